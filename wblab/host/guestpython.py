"""The Python of the guest: which one it is, as a record must say it for runs on another machine to be compared."""

import json
import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.host.environment import ENVIRONMENT

# The executable, and the libraries that the guest's program maps (proc(5), /proc/PID/maps).
_IDENTIFY = """
import sys
sys.path.insert(0, sys.argv[1])
import json, wblab.guest.init
mapped = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if "/" in line}
print(json.dumps([sys.version.split()[0], sorted(path for path in mapped if ".so" in path)]))
"""


@cache
def describe_python(interpreter: str, program: Path) -> dict[str, object]:
    """Return what the guest's Python is: path, version, and digests of it and of all libraries that it maps, by name.

    Another one takes another amount of memory, and so gives other results. Raises WblabError.
    """
    command = [interpreter, "-S", "-s", "-P", "-B", "-c", _IDENTIFY, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise WblabError(f"{interpreter} cannot run the guest's program: {said}")
    version, libraries = json.loads(done.stdout)
    return {
        "python": interpreter,
        "python_version": version,
        "python_sha256": _digest(interpreter),
        "libraries": {Path(path).name: _digest(path) for path in libraries},
    }


def _digest(path: str) -> str:
    return sha256(Path(path).read_bytes()).hexdigest()
