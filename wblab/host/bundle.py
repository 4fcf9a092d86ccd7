"""The guest's program as one file: experiment.py and what it imports, compiled for the guest's interpreter.

A guest that imported the lab, or the standard library, from directories of the host would depend on what lies about in
them (byte code that is there, stale or missing, other files) and on their path: all of it changes the guest's memory
and timing a little, which a repeatable run must not. One file with fixed content is also quicker to import.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import get_ident

from wblab.core.errors import WblabError
from wblab.lab.cache import room
from wblab.lab.places import PROGRAM, ROOT

PACKAGES = ("wblab/core", "wblab/core/loads", "wblab/guest")
# wblab/__init__.py as guests have it: without the Python interface, which would change their bytes with each new name.
GUEST_INIT = Path(__file__).with_name("guestinit.txt")

# Runs in the guest's interpreter, on the host: arguments are the archive, the lab, then pairs of name and file. The
# lab's sources are kept for tracebacks; byte code is marked as never to be checked against sources (PEP 552).
_COMPILE = """
import sys
archive, lab, *pairs = sys.argv[1:]
names, paths = pairs[::2], pairs[1::2]
sys.path.append(lab)
import importlib.util, os, runpy  # what Python itself needs to run an archive
import dataclasses, difflib, traceback  # the last two are for errors
made = {}  # the methods that dataclasses write, as text, and compiled
def execute(text, *spaces):
    made[text] = compile(text, "<string>", "exec")
    exec(made[text], *spaces)
dataclasses.exec = execute
for name in names[1:]:
    importlib.import_module(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
standard = {}  # what was imported from files of the standard library
for name, module in list(sys.modules.items()):
    spec = getattr(module, "__spec__", None)
    if name.split(".")[0] == "wblab":
        continue  # an installed lab may lie below the standard library
    if spec and spec.name != name:  # perhaps a file has put another module in its place: collections.abc of Python 3.13
        above = sys.modules.get(name.rpartition(".")[0])
        own = importlib.machinery.PathFinder.find_spec(name, getattr(above, "__path__", []))
        if own and own.has_location and b"sys.modules[__name__] =" in open(own.origin, "rb").read():
            spec = own
    if spec and spec.has_location and spec.origin.startswith(sys._stdlib_dir) and spec.origin.endswith(".py"):
        # Other modules of a package are where they were.
        more = f"__path__.append({os.path.dirname(spec.origin)!r})" if spec.submodule_search_locations else ""
        standard[os.path.relpath(spec.origin, sys._stdlib_dir)] = spec.origin, more
import marshal, zipfile
# Compiling those methods would be a third of what the guest's imports take.
ready = "_made = __import__('marshal').loads(%r)\\n" % marshal.dumps(made, 2)
ready += "def exec(text, *spaces, _exec=exec): _exec(_made.get(text, text), *spaces)"
standard["dataclasses.py"] = dataclasses.__spec__.origin, ready
def compiled(path, shown, more="", optimize=-1):
    source = open(path, "rb").read()
    code = compile(source + b"\\n" + more.encode(), shown, "exec", dont_inherit=True, optimize=optimize)
    head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(source)
    return source, head + marshal.dumps(code, 2)  # later versions tell what else refers to an object
with zipfile.ZipFile(archive, "w") as file:
    for name, path in zip(names, paths):
        source, code = compiled(path, "/lab/" + name)
        file.writestr(zipfile.ZipInfo(name), source)
        file.writestr(zipfile.ZipInfo(name + "c"), code)
    for name, (path, more) in sorted(standard.items()):
        file.writestr(zipfile.ZipInfo(name + "c"), compiled(path, path, more, 2)[1])  # without docstrings
"""


@dataclass(frozen=True)
class Sources:
    """Where the lab's sources are, and its program for guests; by default, this lab's."""

    root: Path = ROOT
    program: Path = PROGRAM


_SOURCES = Sources()


def bundle(interpreter: str, main: str = "", more: Sequence[str] = (), lab: Sources = _SOURCES) -> Path:
    """Return the bundle for an interpreter, made if it is not in the cache. Raises WblabError.

    main, more: another program than experiment.py, and the packages that it needs besides, below the lab's root.
    """
    sources = _sources(lab, main, more)
    about = f"{interpreter} {os.stat(interpreter).st_mtime_ns} {_COMPILE} {_sha256(sources)}"
    archive = room("bundles") / f"{sha256(about.encode()).hexdigest()[:32]}.pyz"
    if not archive.exists():
        _compile(interpreter, sources, archive, lab.root)
    return archive


def sources_sha256(lab: Sources = _SOURCES) -> str:
    """Return the identity of what is the lab's own in the guest's program, whatever the interpreter."""
    return _sha256(_sources(lab))


def program_sha256(interpreter: str) -> str:
    """Return the identity of the guest's program: the lab's part of what decides a run. Raises WblabError."""
    return sha256(bundle(interpreter).read_bytes()).hexdigest()


def _sha256(sources: Mapping[str, Path]) -> str:
    total = sha256()
    for name, path in sources.items():
        total.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def _sources(lab: Sources, main: str = "", more: Sequence[str] = ()) -> dict[str, Path]:
    """Return the files of the bundle by their names in it, in a fixed order."""
    files = {"__main__.py": lab.root / main if main else lab.program, "wblab/__init__.py": GUEST_INIT}
    for package in more:
        for parent in reversed(Path(package).parents[:-2]):
            files[f"{parent}/__init__.py"] = lab.root / parent / "__init__.py"
    for package in (*PACKAGES, *more):
        for path in sorted((lab.root / package).glob("*.py")):
            files[f"{package}/{path.name}"] = path
    return files


def _compile(interpreter: str, sources: dict[str, Path], archive: Path, root: Path) -> None:
    partial = archive.with_name(f"{archive.name}.{os.getpid()}-{get_ident()}")  # runs side by side
    arguments = [str(item) for pair in sources.items() for item in pair]
    command = [interpreter, "-I", "-S", "-B", "-c", _COMPILE, str(partial), str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})  # a locale imports modules
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise WblabError(f"{interpreter} cannot compile the guest's program: {said}")
    partial.replace(archive)
