"""The Python of the guest: which one it is, as a record must say it for runs on another machine to be compared."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from wblab.core.errors import WblabError
from wblab.host.environment import ENVIRONMENT, LIBRARIES
from wblab.kernels import facts

# The executable, and the libraries that the guest's program maps (proc(5), /proc/PID/maps).
_IDENTIFY = """
import sys
sys.path.insert(0, sys.argv[1])
import json, wblab.guest.init
mapped = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if "/" in line}
print(json.dumps([sys.version.split()[0], sorted(path for path in mapped if ".so" in path)]))
"""


# What else decides which libraries these are: where the loader looks for them, see ld.so(8).
_LOADERS = (*LIBRARIES, "/etc/ld.so.cache", "/etc/ld.so.preload")


def describe_python(interpreter: str, program: Path) -> dict[str, Any]:
    """Return what the guest's Python is: path, version, and digests of it and of all libraries that it maps, by name.

    Another one takes another amount of memory, and so gives other results. To find it out takes as long as to start it,
    so that it is kept for as long as no file changes that decides it. Raises WblabError.
    """
    command = [interpreter, "-S", "-s", "-P", "-B", "-c", _IDENTIFY, str(program)]
    loaders = [path for path in _LOADERS if os.path.exists(path)]

    def find() -> tuple[dict[str, Any], list[str | Path]]:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise WblabError(f"{interpreter} cannot run the guest's program: {said}")
        version, libraries = json.loads(done.stdout)
        description = {
            "python": interpreter,
            "python_version": version,
            "python_sha256": facts.sha256(interpreter),
            "libraries": {Path(path).name: facts.sha256(path) for path in libraries},
        }
        return description, [interpreter, program, *libraries, *loaders]

    return dict(facts.fact(json.dumps([command, ENVIRONMENT, loaders]), find))
