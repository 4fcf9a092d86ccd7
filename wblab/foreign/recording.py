"""What a recorder kept: a tar with pages of a ring buffer, the formats of its events, and the facts of its machine."""

import gzip
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, cast

from tracecmd import TraceError
from tracecmd.pieces import Pieces

from wblab.core.errors import InputError
from wblab.core.files import open_file
from wblab.machine.memberships import ROOT, group_of

_PAGES = re.compile(r"cpu(\d{1,4})\.raw")
_FACTS = "facts.txt"
_TEXTS = frozenset({"header_page", "formats", "cmdlines", "functions", "recorder", _FACTS})
_NEEDED = ("header_page", "formats", "recorder")
_MOST_BYTES = 512 << 20  # unpacked; the buffers of a recorder have 64 MiB, unless it is told otherwise
_GZIP = b"\x1f\x8b"
_FORMAT = re.compile(r"[^:]*/events/([\w.-]+)/([\w.-]+)/format:(.*)")
_FACT = re.compile(r"^==> (/\S+) <==\n(.*?)(?=^==> /|\Z)", re.MULTILINE | re.DOTALL)
_DEVICE = re.compile(r"/sys/block/([^/\s]+)/dev")
_GROUP = re.compile(r"/proc/\d{1,10}/task/(\d{1,10})/cgroup")
_STALL = re.compile(r"stall (\d{1,12}) ms, (.*)")


@dataclass(frozen=True)
class Recording:
    """What a recorder kept in a file. who: what stalled, in its words; stall_ms: for how long, as far as it saw.

    facts: the content of files of /proc and /sys, by path.
    """

    path: Path
    pieces: Pieces
    who: str
    stall_ms: int
    facts: Mapping[str, str]

    @property
    def devices(self) -> dict[str, str]:
        """The names of the machine's disks by number, major:minor."""
        found = ((_DEVICE.fullmatch(path), text.strip()) for path, text in self.facts.items())
        return {number: match[1] for match, number in found if match}

    @property
    def groups(self) -> dict[int, str]:
        """The paths of control groups by the tasks in them; of those that slept uninterruptibly, not of all."""
        found = ((_GROUP.fullmatch(path), group_of(text)) for path, text in self.facts.items())
        return {int(match[1]): group for match, group in found if match and group != ROOT}

    @contextmanager
    def trace(self) -> Iterator[Path]:
        """Write its trace.dat for the duration of the block. Raises InputError if it is damaged."""
        with TemporaryDirectory(prefix="wblab-") as directory:
            path = Path(directory) / "trace.dat"
            try:
                self.pieces.write(path)
            except TraceError as error:
                raise InputError(f"{self.path}: {in_member(error)}") from None
            yield path


def is_recording(path: Path) -> bool:
    """Whether a file is a tar of a recorder: it has what only a recorder writes."""
    try:
        return _NEEDED[0] in _members(path, frozenset({_NEEDED[0]}), pages=False)
    except InputError:
        return False


def read_recording(path: Path) -> Recording:
    """Read what a recorder kept. Raises InputError: it is a stranger's file."""
    found = _members(path, _TEXTS, pages=True)
    if lacking := [name for name in _NEEDED if name not in found]:
        raise InputError(f"{path} lacks {lacking[0]!r}, so no recorder of the lab made it, or it was cut off")
    texts = {name: found[name].decode(errors="replace") for name in _TEXTS & found.keys()}
    numbers = sorted(int(match[1]) for name in found if (match := _PAGES.fullmatch(name)))
    stall, *more = texts["recorder"].splitlines() or [""]
    told = _STALL.fullmatch(stall)
    pieces = Pieces(
        header_page=texts["header_page"],
        formats=_formats(texts["formats"]),
        pages=[found[f"cpu{number}.raw"] for number in numbers],
        cmdlines=texts.get("cmdlines", ""),
        kallsyms=texts.get("functions", ""),
        uname=more[0] if more else "",
    )
    who, stall_ms = (told[2], int(told[1])) if told else ("", 0)
    return Recording(path, pieces, who, stall_ms, facts_of(texts.get(_FACTS, "")))


def in_member(error: TraceError, trace: Path | None = None) -> str:
    """Return what is wrong with a recorder's trace, with the member of its tar in place of the trace or its path."""
    said = str(error)
    is_format = said.startswith(("the format", "a format", "a print format"))
    member = "formats" if is_format else "header_page" if "header_page" in said else "cpu*.raw"
    for name in (str(trace or "the trace"), "the trace"):
        if name in said:
            return said.replace(name, member)
    return f"{member}: {said}"


def facts_text(path: Path) -> str:
    """Return what a tar has of its machine's facts, as `facts.sh` prints them; empty if it has none, or is no tar."""
    try:
        return _members(path, frozenset({_FACTS}), pages=False).get(_FACTS, b"").decode(errors="replace")
    except InputError:
        return ""


def facts_of(text: str) -> dict[str, str]:
    """Return the files in what `facts.sh` prints, by path; its lines may end as a serial console ends them."""
    return {match[1]: match[2] for match in _FACT.finditer(text.replace("\r\n", "\n"))}


class _Limited:
    """An unpacked file from which at most so much is read, whatever it was packed from."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """Raises OSError."""
        packed = file.read(2) == _GZIP
        file.seek(0)
        self._path, self._left = path, _MOST_BYTES
        self._file = cast(IO[bytes], gzip.GzipFile(fileobj=file)) if packed else file

    def read(self, size: int) -> bytes:
        """Return the next bytes. Raises InputError beyond the limit."""
        content = self._file.read(size)
        if (left := self._left - len(content)) < 0:
            raise InputError(f"{self._path} unpacks to more than {_MOST_BYTES >> 20} MiB: record it with less --buffer")
        self._left = left
        return content


def _members(path: Path, wanted: frozenset[str], *, pages: bool) -> dict[str, bytes]:
    """Return members of a tar by their names. Nothing is unpacked to disk. pages: also those of the ring buffer."""
    found: dict[str, bytes] = {}
    try:
        with open_file(path) as file, tarfile.open(fileobj=cast(IO[bytes], _Limited(path, file)), mode="r|") as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                if member.isfile() and name not in found and (name in wanted or (pages and _PAGES.fullmatch(name))):
                    content = archive.extractfile(member)
                    found[name] = content.read() if content else b""
                if not pages and wanted == found.keys():
                    break
    except OSError as error:  # gzip.BadGzipFile too
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (tarfile.TarError, zlib.error, EOFError, ValueError) as error:
        raise InputError(f"{path} is not a whole tar: {error}") from None
    return found


def _formats(text: str) -> dict[str, list[str]]:
    """Return the texts of formats by system: each line begins with its file's path, as grep prints it."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in text.splitlines():
        if match := _FORMAT.fullmatch(line):
            found.setdefault(match[1], {}).setdefault(match[2], []).append(match[3])
    return {system: ["\n".join([*lines, ""]) for lines in events.values()] for system, events in found.items()}
