"""The lab as programs of a guest see it: a directory of fixed content, whatever lies about in the host's.

Programs that imported the lab from where it is installed would depend on what else is there: byte code that is there,
stale or missing, and how many other packages there are, which decides how often a directory is read. Each system call
moves all later events. So guests get a copy: the lab's modules with byte code that is never checked against a source,
and the files that its scripts read. A checkout and an installation give the same one.

The interpreter's own packages reach a program in the same way, by their number and by .pth files. So it runs as that
of an environment without packages (site in Python's library reference), which is in the copy too.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from wblab.core import layout
from wblab.core.errors import InputError, WblabError
from wblab.core.layout import PACKAGES
from wblab.core.spec import Spec
from wblab.host.bundle import GUEST_INIT
from wblab.lab.cache import room
from wblab.lab.places import INSTALLED, PRESETS, ROOT, SHARE

# The lab itself, for guests in which its programs run: what it is there, its packages and the Python that has them.

# What a guest mounts its own filesystems over: the host's files below are not to be seen there.
HIDDEN = ("/tmp", "/run", "/mnt", "/dev", "/proc", "/sys")
# The lab's command as a word of a command, no part of a path or of a module's name; or where the packages are.
_ASKS = re.compile(rf"(?<![\w/.])wblab(?![\w.])|{re.escape(str(PACKAGES))}\b")


@dataclass(frozen=True)
class Lab:
    """python: the interpreter, by a path that guests see too. packages: its site-packages."""

    python: Path
    packages: Path


def lab(prefix: Path | None = None, hidden: Sequence[str] = HIDDEN) -> Lab:
    """Return what the lab is installed with: the environment that runs this, else a checkout's. Raises InputError.

    prefix: another environment. hidden: directories whose files guests do not see.
    """
    if prefix is None:
        prefix = Path(sys.prefix) if INSTALLED or sys.prefix != sys.base_prefix else ROOT / ".venv"
    packages = ROOT if INSTALLED else next(iter(sorted(prefix.glob("lib/python3*/site-packages"))), None)
    python = Path(os.path.realpath(sys.executable if INSTALLED else prefix / "bin" / "python3"))
    if packages is None or not os.access(python, os.X_OK):
        raise InputError(f"programs in the guest need the lab's packages, which are not in {prefix}: run 'make setup'")
    if any(python.is_relative_to(directory) for directory in hidden):
        raise InputError(f"a guest cannot see {python}: use a Python that is not below {', '.join(hidden)}")
    return Lab(python, packages)


def asks_for_packages(spec: Spec) -> bool:
    """Whether a command or an agent of a spec names `wblab`, or the packages' directory in the guest.

    Others do not get them: how many packages a host has would reach their runs.
    """
    return any(_ASKS.search(word) for argv in commands(spec).values() for word in argv)


def commands(spec: Spec) -> dict[str, tuple[str, ...]]:
    """Return the commands of a spec's loads and agents, by the keys of those."""
    of_loads = {f"load.{name}": tuple(getattr(load, "argv", ())) for name, load in spec.load.items() if load.needs_lab}
    return of_loads | {f"agent.{name}": tuple(agent.argv) for name, agent in spec.agent.items()}


_SCRIPTS = ("experiment.py", "live_experiment.py", "load.py")
# Python imports it, if there is one: this one stands before that of a host.
_SITE = "sitecustomize.py"
_MOST_S = 12 * 3600  # twice what a run may last (--max-time)
_NOTHING = "nothing"  # an empty directory, in the place of packages
GUESTS_PYTHON = layout.LAB / "bin" / "python3"
_ENVIRONMENT = "environment"
_UNSEEN = (".md", ".pyi", ".typed")  # suffixes of what only people and type checkers read
_SETTINGS = "home = {}\ninclude-system-site-packages = false\n"
_START = f'#!/bin/sh\nexec {layout.LAB}/{_ENVIRONMENT}/bin/python3 "$@"\n'

_COMPILE = """
import py_compile, sys
place, shown = sys.argv[1:]
unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
for name in sys.stdin.read().split("\\0"):
    py_compile.compile(f"{place}/{name}", dfile=f"{shown}/{name}", doraise=True, invalidation_mode=unchecked)
"""


@dataclass(frozen=True)
class GuestLab:
    """The lab of one guest.

    python: its interpreter. modules: the copy; sha256: of what is in it, whatever the interpreter. packages: the lab's,
    or an empty directory for a spec that does not ask for them.
    """

    python: Path
    modules: Path
    sha256: str
    packages: Path

    @property
    def has_packages(self) -> bool:
        """Whether programs of the guest get the lab's packages."""
        return not self.packages.is_relative_to(self.modules)


def guest_lab(spec: Spec, handed: Path | None = None) -> GuestLab | None:
    """Return the lab for a guest of a spec, if programs run there. Raises WblabError, InputError.

    handed: a directory that they get in the place of the lab's packages.
    """
    if not spec.needs_lab:
        return None
    installed = lab()
    modules, identity = copied(installed.python)
    packages = handed or (installed.packages if asks_for_packages(spec) else modules / _NOTHING)
    return GuestLab(installed.python, modules, identity, packages)


@dataclass(frozen=True)
class Origin:
    """Where the lab's files are: its packages, its scripts, and its presets; by default, this lab's."""

    root: Path = ROOT
    share: Path = SHARE
    presets: Path = PRESETS


_ORIGIN = Origin()


def copied(python: Path, origin: Origin = _ORIGIN) -> tuple[Path, str]:
    """Return the copy, made if it is not in the cache, and the digest of its files. Raises WblabError.

    python: what compiles it, and runs it.
    """
    files = _files(origin)
    identity = _sha256(files)
    about = f"{python} {python.stat().st_mtime_ns} {_COMPILE} {_SETTINGS} {_START} {layout.LAB} {identity}"
    place = room("bundles") / sha256(about.encode()).hexdigest()[:32]
    _used(place).touch()  # not the directory itself: its time tells Python in a guest to read it again
    if not place.is_dir():
        _make(files, place, python)
        _prune(place.parent)
    return place, identity


def _used(place: Path) -> Path:
    """Return the file whose time is that of the last use of a copy."""
    return place.with_suffix(".used")


def _prune(folder: Path) -> None:
    """Remove copies that no guest has any more: those that were taken longer ago than a run may last."""
    for note in folder.glob("*.used"):
        with suppress(FileNotFoundError):  # somebody else removes it
            if time.time() - note.stat().st_mtime > _MOST_S:
                shutil.rmtree(note.with_suffix(""), ignore_errors=True)
                note.unlink()


def _files(origin: Origin) -> dict[str, Path | None]:
    """Return its files, by their names in it, in a fixed order; None stands for an empty one."""
    trees = {
        "wblab": origin.root / "wblab",
        "misc/tracecmd": origin.root / "tracecmd" if INSTALLED else origin.root / "misc" / "tracecmd",
        "experiments": origin.presets,
    }
    found: dict[str, Path | None] = {_SITE: None}
    for name, tree in trees.items():
        for path in sorted(tree.rglob("*")):
            inside = path.relative_to(tree)
            is_other = (
                "__pycache__" in inside.parts
                or inside.parts[0] == "share"
                or path.suffix in _UNSEEN
                or path == GUEST_INIT
            )
            if path.is_file() and not is_other:
                found[f"{name}/{inside}"] = path
    return found | {"wblab/__init__.py": GUEST_INIT} | {name: origin.share / name for name in _SCRIPTS}


def _sha256(files: Mapping[str, Path | None]) -> str:
    total = sha256()
    for name, path in files.items():
        content = path.read_bytes() if path else b""
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def _make(files: Mapping[str, Path | None], place: Path, python: Path) -> None:
    partial = Path(mkdtemp(prefix=f"{place.name}.", dir=place.parent))  # runs side by side
    try:
        for name, source in files.items():
            copy = partial / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes() if source else b"")
            copy.chmod(0o755 if name in _SCRIPTS else 0o644)
        _add_python(partial, python)
        modules = "\0".join(name for name in files if name.endswith(".py") and name not in _SCRIPTS)
        command = [str(python), "-I", "-S", "-B", "-c", _COMPILE, str(partial), str(layout.LAB)]
        done = subprocess.run(command, input=modules, capture_output=True, text=True, check=False, env={})
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise WblabError(f"{python} cannot compile the lab for guests: {said}")
        partial.chmod(0o755)
        if not place.is_dir():
            os.rename(partial, place)
    except OSError as error:
        if not place.is_dir():  # somebody else has made it meanwhile
            raise WblabError(f"cannot make {place}: {error.strerror}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _add_python(place: Path, python: Path) -> None:
    """Write what starts the interpreter, as that of an environment without packages. Raises OSError."""
    (place / _NOTHING).mkdir()
    start = place / GUESTS_PYTHON.relative_to(layout.LAB)
    start.parent.mkdir()
    start.write_text(_START)
    start.chmod(0o755)
    programs = place / _ENVIRONMENT / "bin"
    programs.mkdir(parents=True)
    (programs / "python3").symlink_to(python)
    (place / _ENVIRONMENT / "pyvenv.cfg").write_text(_SETTINGS.format(python.parent))
