"""What programs need to run on their own: their loader, libraries, and Python's modules in machine code."""

import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.host.sandbox.elf import loader

# Which modules of the standard library are in files of their own, and where Python looks for its library.
_ASK = """
import sys
sys.path.insert(0, sys.argv[1])
import json, os, importlib
for name in sys.argv[2:]:
    importlib.import_module(name)
from wblab.core.streams import phase_stream
phase_stream(1, "load")  # since Python 3.13 what hashes the text is imported only then
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
print(json.dumps([sorted(file for file in files if file.endswith(".so")), sys._stdlib_dir]))
"""
_NEEDED = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x", re.MULTILINE)


def files_of(programs: Iterable[str]) -> set[str]:
    """Return the paths that these programs or libraries map when they start. Raises WblabError."""
    found: set[str] = set()
    for program in programs:
        found.add(program)
        if (interpreter := loader(program)) is not None:
            found |= {interpreter, *_libraries(interpreter, program)}
    return found


def _libraries(interpreter: str, program: str) -> list[str]:
    done = subprocess.run([interpreter, "--list", program], capture_output=True, text=True, check=False)
    if done.returncode:
        raise WblabError(f"cannot tell which libraries {program} needs: {done.stderr.strip()}")
    return _NEEDED.findall(done.stdout)


def python_files(interpreter: str, program: Path, modules: Iterable[str]) -> set[str]:
    """Return what Python maps besides when it imports these modules of a program. Raises WblabError."""
    command = [interpreter, "-I", "-S", "-B", "-c", _ASK, str(program), *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise WblabError(f"{interpreter} cannot run the guest's program: {said}")
    extensions, library = json.loads(done.stdout)
    start = loader(interpreter)
    needed = {path for each in extensions for path in (_libraries(start, each) if start else ())}
    # By this file Python finds the place of its library, and so that of the extensions.
    return {*extensions, *needed, os.path.join(library, "os.py")}
