"""The guest's program as one file: experiment.py and what it imports, compiled for the guest's interpreter.

A guest that imported the lab from its directories would depend on what lies about in them (byte code that is there
or not, other files) and on their path: all of it changes the guest's memory and timing a little, which a repeatable
run must not. One file with fixed content is also quicker to import.
"""

import os
import subprocess
from hashlib import sha256
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.specfile import ROOT
from wblab.host.kernel.cache import room

PACKAGES = ("wblab/core", "wblab/guest")

# Runs in the guest's interpreter, on the host: arguments are the archive, then pairs of name and file.
# Sources are kept for tracebacks; their byte code is marked as never to be checked against them (PEP 552).
_COMPILE = """
import sys, zipfile, importlib.util, importlib._bootstrap_external as external
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for name, path in zip(sys.argv[2::2], sys.argv[3::2]):
        source = open(path, "rb").read()
        code = compile(source, "/lab/" + name, "exec", dont_inherit=True)
        pyc = external._code_to_hash_pyc(code, importlib.util.source_hash(source), False)
        archive.writestr(zipfile.ZipInfo(name), source)
        archive.writestr(zipfile.ZipInfo(name + "c"), bytes(pyc))
"""


def bundle(interpreter: str) -> Path:
    """Return the bundle for an interpreter, made if it is not in the cache. Raises WblabError."""
    sources = _sources()
    key = sha256(f"{interpreter} {os.stat(interpreter).st_mtime_ns} {_COMPILE}".encode())
    for name, path in sources.items():
        key.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    archive = room("bundles") / f"{key.hexdigest()[:32]}.pyz"
    if not archive.exists():
        _compile(interpreter, sources, archive)
    return archive


def program_sha256(interpreter: str) -> str:
    """Return the identity of the guest's program: the lab's part of what decides a run. Raises WblabError."""
    return sha256(bundle(interpreter).read_bytes()).hexdigest()


def _sources() -> dict[str, Path]:
    """Return the files of the bundle by their names in it, in a fixed order."""
    files = {"__main__.py": ROOT / "experiment.py", "wblab/__init__.py": ROOT / "wblab" / "__init__.py"}
    for package in PACKAGES:
        for path in sorted((ROOT / package).glob("*.py")):
            files[f"{package}/{path.name}"] = path
    return files


def _compile(interpreter: str, sources: dict[str, Path], archive: Path) -> None:
    partial = archive.with_name(f"{archive.name}.{os.getpid()}")
    arguments = [str(item) for pair in sources.items() for item in pair]
    command = [interpreter, "-I", "-S", "-c", _COMPILE, str(partial), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise WblabError(f"{interpreter} cannot compile the guest's program: {said}")
    partial.replace(archive)
