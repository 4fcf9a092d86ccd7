"""What decides how the programs of a guest run, besides its spec, as a record must say it: what they are, and Python.

A program may read any file of the distribution, and a shell may start any other. So these are the programs that a
command names, in the words of a script too, and what each Python looks at before it runs a line.
"""

import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from wblab.core.errors import WblabError
from wblab.core.spec import Spec
from wblab.host.guestlab import GuestLab, commands
from wblab.kernels import facts

_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"  # as in the guest, where the lab's own programs come first
_WORD = re.compile(r"[\w./+-]+")
_MOST_WORDS = 1000
_LOADERS_CACHE = "/etc/ld.so.cache"
_ASK = "import sys; print(sys._stdlib_dir)"
_OTHERS = ("site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "lib2to3", "ensurepip")
_WORD_MASK = 0xFFFFFFFF
_HEAD = 16  # of byte code: the magic number, how it is checked, and the time and size of its source (PEP 552)


def describe_programs(spec: Spec, lab: GuestLab) -> dict[str, str]:
    """Return digests by the names of what is meant. Raises WblabError for a Python that cannot be run."""
    found = {
        "the lab's modules": lab.sha256,
        "Python": facts.sha256(lab.python),
        "Python's library": _library_sha256(_library(lab.python)),
    }
    if lab.has_packages:
        found["the lab's packages"] = _names_sha256(lab.packages)
    if os.path.exists(_LOADERS_CACHE):
        found["ld.so.cache"] = facts.sha256(_LOADERS_CACHE)
    return found | {name: facts.sha256(path) for name, path in sorted(_named(spec))}


def _named(spec: Spec) -> Iterator[tuple[str, str]]:
    """Yield the programs of the distribution that the commands of a spec name."""
    words = dict.fromkeys(word for argv in commands(spec).values() for text in argv for word in _WORD.findall(text))
    for word in [*words][:_MOST_WORDS]:
        if word != "python3" and (path := shutil.which(word, path=_PATH)):
            yield word, path


def _library(python: Path) -> Path:
    """Return where an interpreter has its standard library."""

    def find() -> tuple[Any, list[Path | str]]:
        done = subprocess.run([python, "-I", "-S", "-c", _ASK], capture_output=True, text=True, check=False, env={})
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise WblabError(f"cannot run {python}: {said}")
        return done.stdout.strip(), [python, done.stdout.strip()]

    return Path(facts.fact(f"library {python}", find))


def _library_sha256(library: Path) -> str:
    """Return a digest of a library's files: their names and sizes, and of byte code, whether it fits its source."""
    total = sha256()
    for directory, names, files in os.walk(library):
        names[:] = sorted(set(names).difference(_OTHERS))
        for name in sorted(files):
            path = Path(directory, name)
            total.update(f"{path.relative_to(library)} {_state(path)}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def _state(path: Path) -> str:
    try:
        if path.suffix != ".pyc":
            return str(path.stat().st_size)
        with path.open("rb") as file:
            head = file.read(_HEAD)
        source = (path.parents[1] / path.name.split(".")[0]).with_suffix(".py").stat()
    except OSError:
        return "unreadable"
    of_source = struct.pack("<2I", int(source.st_mtime) & _WORD_MASK, source.st_size & _WORD_MASK)
    return f"{path.stat().st_size} {head[8:] == of_source}"


def _names_sha256(packages: Path) -> str:
    """Return a digest of the names of all files of packages; those of a version's record have the version."""
    total = sha256()
    for directory, names, files in os.walk(packages):
        names.sort()
        place = os.path.relpath(directory, packages)
        total.update("\0".join([place, *names, "", *sorted(files), ""]).encode(errors="surrogateescape"))
    return total.hexdigest()
