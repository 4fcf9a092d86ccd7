"""Read a bundle from anybody: every byte is checked before anything of it is used.

The outer form has one spelling (archive.py). Names, sizes and digests are in bundle.json, which is read first; only
files that belong to a run or a study are unpacked, into a new directory. What bundle.json says of the runs is computed
again from them, and both must be the same.
"""

import os
import resource
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from wblab.core.errors import InputError
from wblab.core.files import open_file, parse_json
from wblab.core.tables import from_table
from wblab.host.machine import available_memory_bytes
from wblab.lab.formats import ROWS
from wblab.lab.held import held
from wblab.lab.progress import Report, silent
from wblab.machine.directory import workroom
from wblab.publish.bundle import members
from wblab.publish.bundle.about import BUNDLE, Member, PackedRun, all_told, described, encoded
from wblab.publish.bundle.archive import ArchiveMember, read_content, read_entries
from wblab.report.quantities import size
from wblab.study.made import Made, made_of
from wblab.study.store import Store

# A bound on memory while somebody else's file is read: its traces may hold more events than fit.

_SHARE = 0.75  # of what is available: others need memory, too


@contextmanager
def bounded_memory(what: str) -> Iterator[None]:
    """Let the block take three quarters of the free memory. Raises InputError, which names `what`, if it needs more.

    A reader may have called it damaged because it had no memory; so causes of an InputError are looked at, too.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    room = int(available_memory_bytes() * _SHARE)
    limits = [_data_bytes() + room, *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    except (MemoryError, InputError) as error:
        if not _is_of_memory(error):
            raise
        raise InputError(
            f"{what} takes more than {size(room)} of memory, three quarters of what is free here: end other programs, "
            f"or read it on a larger machine"
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _is_of_memory(error: BaseException | None) -> bool:
    while error and not isinstance(error, MemoryError):
        error = error.__context__
    return error is not None


def _data_bytes() -> int:
    """Return what RLIMIT_DATA counts of this process: proc_pid_statm(5), `data`."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()


@dataclass(frozen=True)
class Opened:
    """A bundle that was checked. directory: its files, until they are moved or the block ends.

    about: bundle.json, with this lab's headlines. reworded: the runs whose headline was another.
    """

    file: Path
    size: int
    sha256: str
    kind: members.Kind
    about: Mapping[str, Any]
    files: tuple[Member, ...]
    runs: Mapping[str, PackedRun]
    reworded: tuple[str, ...]
    directory: Path

    @property
    def name(self) -> str:
        """The name that its directory had."""
        return str(self.about["name"])

    @property
    def rows(self) -> int:
        """The number of runs of which the study kept a row in place of a directory."""
        return int(self.about.get("study", {}).get("rows", 0))

    @cached_property
    def made(self) -> dict[str, Made]:
        """The runs of which it has the row alone, in the order of their names. Raises InputError."""
        found = made_of(Store.open(self.directory)) if self.rows else ()
        return {made.name: made for made in sorted(found, key=lambda made: made.name)}

    def path(self, run: str) -> Path:
        """Return the directory of a run, relative to that of the bundle."""
        return Path() if self.kind == "run" else Path("runs", run)


@contextmanager
def opened(file: Path, room: Path | None = None, report: Report = silent) -> Iterator[Opened]:
    """Yield a bundle, unpacked below a new directory in `room` (default: that of temporary files).

    Raises InputError, in one line, for anything that is not what `pack` writes.
    """
    try:
        stream = open_file(file, follow=True)
    except OSError as error:
        raise InputError(f"cannot read {str(file)!r}: {error.strerror or error}: give a file of 'wblab pack'") from None
    with stream, _directory(room) as temporary:
        directory = Path(temporary, "files")
        with bounded_memory(f"reading {str(file)!r}"):
            try:
                found = _read(file, stream, directory, report)
            except (ValueError, InputError) as error:
                reason = str(error).replace(f"{directory}/", "its ").replace(str(directory), "it")
                raise InputError(
                    f"{str(file)!r} is not a sound bundle: {reason}: get it again, or ask its sender to pack it anew"
                ) from None
        yield found


@contextmanager
def _directory(room: Path | None) -> Iterator[Path]:
    with ExitStack() as stack:
        try:
            if room:
                place = stack.enter_context(workroom(stack.enter_context(held(room)), "open"))
            else:
                place = Path(stack.enter_context(TemporaryDirectory(prefix=".open-")))
        except OSError as error:
            raise InputError(f"cannot write in {str(room or 'the temporary directory')!r}: {error.strerror}") from None
        yield place


def _read(file: Path, stream: BinaryIO, directory: Path, report: Report) -> Opened:
    """Check and unpack. Raises ValueError and InputError."""
    first, *rest = read_entries(stream)
    if first.name != members.ABOUT:
        raise ValueError(f"its first member is not {members.ABOUT}")
    members.check_size(members.ABOUT, first.size)
    content = b"".join(read_content(stream, first, None))
    claimed = parse_json(content)
    kind, title, files = _head(claimed, rest)
    packed = sha256()
    directory.mkdir()
    for number, (entry, member) in enumerate(zip(rest, files, strict=True)):
        report(number / len(rest), f"unpacking file {number + 1} of {len(rest)}")
        _unpack(stream, entry, member, directory / entry.name, packed)
    runs = list(dict.fromkeys(filter(None, map(members.run_of, (member.name for member in files)))))
    told = all_told(directory, kind, title, runs, report)
    about = described(directory, kind, title, told)
    if kind == "study" and not about["study"]["rows"] and any(member.name.startswith(f"{ROWS}/") for member in files):
        raise ValueError("it has rows of runs whose directories it has")
    if _spelt(claimed, about, packed.hexdigest(), files) != content:
        raise ValueError(_difference(claimed, about, packed.hexdigest()))
    reworded = [mine["name"] for mine, its in zip(about["runs"], claimed["runs"], strict=True) if mine != its]
    stream.seek(0)
    whole = sha256()
    while piece := stream.read(1 << 18):
        whole.update(piece)
    size = stream.tell()
    return Opened(file, size, whole.hexdigest(), kind, about, tuple(files), told, tuple(reworded), directory)


def _head(claimed: object, rest: list[ArchiveMember]) -> tuple[members.Kind, str, list[Member]]:
    """Return the kind, the name and the files of a bundle.json. Raises ValueError, and InputError for another type."""
    if not isinstance(claimed, dict):
        raise ValueError(f"its {members.ABOUT} is not a JSON object")
    if claimed.get("format") != BUNDLE.version or (kind := claimed.get("kind")) not in BUNDLE.kinds:
        raise ValueError(f"its {members.ABOUT} has another format than {BUNDLE.version}, which this lab reads")
    title, listed = claimed.get("name"), claimed.get("files")
    if not members.is_title(title) or not isinstance(listed, list):
        raise ValueError(f"its {members.ABOUT} has no usable name or no list of files")
    files = [from_table(Member, item, "files", exact=True) for item in listed]
    if [(entry.name, entry.size) for entry in rest] != [(member.name, member.size) for member in files]:
        raise ValueError(f"its {members.ABOUT} lists other files than it has")
    members.check_members([entry.name for entry in rest], [entry.size for entry in rest], kind)
    return kind, str(title), files


def _unpack(stream: BinaryIO, entry: ArchiveMember, member: Member, path: Path, packed: Any) -> None:
    content = sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with open(descriptor, "wb") as target:
        for piece in read_content(stream, entry, packed):
            content.update(piece)
            target.write(piece)
    if content.hexdigest() != member.sha256:
        raise ValueError(f"its {entry.name!r} has another SHA-256 than its {members.ABOUT} says")


def _spelt(claimed: dict[str, Any], about: dict[str, Any], packed_sha256: str, files: list[Member]) -> bytes:
    """Return bundle.json as it must be, with the headlines that were claimed if they are texts."""
    given = claimed.get("runs")
    runs = given if isinstance(given, list) else [None]
    lines = [run.get("headline") if isinstance(run, dict) else None for run in runs]
    if len(lines) != len(about["runs"]) or not all(isinstance(line, str) for line in lines):
        raise ValueError(f"its {members.ABOUT} describes other runs than it has")
    runs = [run | {"headline": line} for run, line in zip(about["runs"], lines, strict=True)]
    return encoded(about | {"runs": runs}, packed_sha256, files)


def _difference(claimed: dict[str, Any], about: dict[str, Any], packed_sha256: str) -> str:
    """Return which part of bundle.json is wrong."""
    mine = about | {"packed_sha256": packed_sha256}
    for run, its in zip(about["runs"], claimed["runs"], strict=True):
        for key in run:
            if key != "headline" and run[key] != its.get(key):
                return f"its {members.ABOUT} and its files differ in {key!r} of {run['name']}"
    for key in mine:
        if key != "runs" and mine[key] != claimed.get(key):
            return f"its {members.ABOUT} and its files differ in {key!r}"
    return f"its {members.ABOUT} is not spelt as a bundle's: other keys, spaces or an order of its own"
