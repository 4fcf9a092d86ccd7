"""Write a run or a study into one file: the same files always give the same bytes."""

import getpass
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from wblab.analysis.runs.run import SUCCEEDED
from wblab.core.errors import InputError
from wblab.core.files import open_file, read_bytes
from wblab.lab.formats import CONSOLE, JOURNAL, ROWS
from wblab.lab.held import held, replace_file, through
from wblab.lab.progress import Report, silent
from wblab.lab.results import is_held
from wblab.publish.bundle import members
from wblab.publish.bundle.about import Member, PackedRun, all_told, described, encoded
from wblab.publish.bundle.archive import MOST_BYTES, MOST_MEMBERS, ArchiveMember, deflated, directory, local, stored
from wblab.study.store import Store

# What a file says of the machine on which it was made: the home and the name of its user, and the host's name.

_MOST_BYTES = 64 << 20
_EVERYBODYS = ("root", "user", "admin", "ubuntu", "debian", "localhost", "wblab", "linux", "test")
_LEAST_LETTERS = 4  # shorter names are found in everything


def places_in(path: Path, name: str) -> list[str]:
    """Return a line for each fact that a text file has. name: of the file, for the line. Raises OSError."""
    if not name.endswith((".json", ".log", ".toml")):
        return []
    content = read_bytes(path, _MOST_BYTES)
    return [f"{name} has {what}" for what, pattern in _facts() if pattern.search(content)]


@cache
def _facts() -> list[tuple[str, re.Pattern[bytes]]]:
    """Return what is looked for, in words and as bytes."""
    home, user, host = str(Path.home()), _user(), os.uname().nodename.partition(".")[0]
    facts = [(f"a path below your home {home}", home + "/")] if home != "/" else []
    for what, text in (("your user name", user), ("this machine's name", host)):
        if len(text) >= _LEAST_LETTERS and text not in _EVERYBODYS:
            facts.append((f"{what} {text!r}", text))
    return [(what, re.compile(rb"(?<![\w-])" + re.escape(os.fsencode(text)))) for what, text in facts]


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no entry for this user
        return ""


_CHUNK = 1 << 18


@dataclass(frozen=True)
class PackedBundle:
    """A bundle that was written. left_out: files that do not belong into one. private: what a file says of here."""

    digest: str
    sha256: str
    members: int
    left_out: tuple[str, ...]
    private: tuple[str, ...]


def pack(path: Path, output: Path, report: Report = silent) -> PackedBundle:
    """Write the run or the study in a directory to a new file. Raises InputError, also if the file exists."""
    if os.path.lexists(output):
        raise InputError(f"{str(output)!r} exists: give another name with -o")
    if is_held(path):
        raise InputError(f"another wblab works on {path}: wait for its end")
    kind = members.kind_of(path)
    _settle(path)
    inside, others = members.found(path, kind)
    runs = list(dict.fromkeys(filter(None, map(members.run_of, inside))))
    title = members.title_of(path, kind)
    told = all_told(path, kind, title, runs, report)
    inside, more = _without_consoles(inside, told)
    content = described(path, kind, title, told)
    if kind == "study" and not content["study"]["rows"]:  # they are made anew from the directories
        inside = [name for name in inside if not name.startswith(f"{ROWS}/")]
    try:
        with held(output.parent) as parent:
            members.check_members(inside, (os.path.getsize(path / name) for name in inside), kind)
            if len(inside) >= MOST_MEMBERS:
                raise ValueError(f"it has {len(inside):,} files, a bundle at most {MOST_MEMBERS - 1:,}")
            with tempfile.TemporaryFile(dir=through(parent)) as data:
                report(None, "compressing")
                entries, files, packed_sha256, private = _compressed(path, inside, data)
                about = encoded(content, packed_sha256, files)
                members.check_size(members.ABOUT, len(about))
                written = _write(through(parent) / output.name, about, entries, data)
    except ValueError as error:
        raise InputError(f"cannot pack {path}: {error}: pack fewer or smaller runs") from None
    except OSError as error:
        raise InputError(f"cannot write {str(output)!r}: {error.strerror or error}: give another place") from None
    return PackedBundle(content["digest"], written, len(inside), tuple(sorted(others + more)), tuple(private))


def _settle(path: Path) -> None:
    """Move a study's rows that wait in a journal into a file of rows: a bundle has no journal. Raises InputError."""
    if (path / ROWS / JOURNAL).exists():
        store = Store.open(path)
        with store.held():
            store.rows.pack()


def _without_consoles(inside: Sequence[str], told: dict[str, PackedRun]) -> tuple[list[str], list[str]]:
    """Return the files without the consoles of runs that succeeded: nothing reads them, and they say where we live."""
    succeeded = {name for name, item in told.items() if item.values["outcome"] == SUCCEEDED}

    def is_idle(name: str) -> bool:
        run = members.run_of(name)
        return name.endswith(CONSOLE) and ((not run and len(told) == len(succeeded)) or Path(run).name in succeeded)

    return [name for name in inside if not is_idle(name)], list(filter(is_idle, inside))


def _compressed(
    path: Path, inside: Iterable[str], data: BinaryIO
) -> tuple[list[ArchiveMember], list[Member], str, list[str]]:
    """Write the compressed files one after another; return what they are, the data's SHA-256, and what is private."""
    total, entries, files = sha256(), [], []
    private: list[str] = []
    for name in inside:
        content = sha256()
        with open_file(path / name) as file:
            entries.append(deflated(_pieces(file), data, total, content, name))
        files.append(Member(name, entries[-1].size, content.hexdigest()))
        private += places_in(path / name, name)
    return entries, files, total.hexdigest(), private


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_CHUNK):
        yield piece


def _write(output: Path, about: bytes, entries: Sequence[ArchiveMember], data: BinaryIO) -> str:
    """Write the archive and return its SHA-256. Raises OSError, and ValueError if it becomes too large."""
    first = stored(about, members.ABOUT)
    whole, end = sha256(), directory([first, *entries])
    data.seek(0)
    with replace_file(output) as file:

        def put(part: bytes) -> None:
            whole.update(part)
            file.write(part)

        put(local(first, first=True) + about)
        for entry in entries:
            put(local(entry, first=False))
            for piece in _exactly(data, entry.packed):
                put(piece)
        put(end)
        if file.tell() > MOST_BYTES:
            raise ValueError("the file would be larger than 2 GiB")
    return whole.hexdigest()


def _exactly(data: BinaryIO, size: int) -> Iterator[bytes]:
    while size:
        piece = data.read(min(size, _CHUNK))
        size -= len(piece)
        yield piece
