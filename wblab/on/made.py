"""A user's program run in a guest: what it prints comes through while it runs, and its exit code at the end."""

import json
import os
import shutil
import sys
import tarfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from threading import Thread
from typing import Any, BinaryIO

from wblab.core.errors import InputError, WblabError
from wblab.core.layout import LEFT
from wblab.core.units import Bytes, format_bytes
from wblab.host.process.limits import Limits
from wblab.host.recorded import Finished, RunFailedError
from wblab.host.request import Request, make_run
from wblab.lab.formats import CONSOLE, HANDED
from wblab.lab.printable import printable
from wblab.machine.trust import check_found
from wblab.on.faults import KNOWN_BY, LOG_BYTES, Faults
from wblab.on.handed import Tree, hand_over
from wblab.on.order import ERR, EXIT, KEPT, NOTE, OURS, OUT, Frames, Order
from wblab.on.world import KERNEL

PROGRAM = "program.json"  # in the run directory: how the program ended, and digests of what it printed
_PIECE = 1 << 16
_TAIL = 1 << 16
_REFUSED = "hostfs: not granted: "
_COMPUTED = "um: a program computed for long"
_CONSOLE_BYTES = 8 << 20


@dataclass
class Said:
    """What a guest said: how the program ended, and notes; printed: digests of what came out of it.

    time_ns: how long the program ran, in the guest's time. tails: of what came out of it, the last _TAIL bytes or more.
    """

    code: int = OURS
    time_ns: int = 0
    notes: list[str] = field(default_factory=list)
    printed: "dict[str, Any]" = field(default_factory=lambda: {OUT: sha256(), ERR: sha256()})
    tails: dict[str, bytearray] = field(default_factory=lambda: {OUT: bytearray(), ERR: bytearray()})
    _left_out: set[str] = field(default_factory=set)

    def printed_more(self, kind: str, content: bytes) -> None:
        """Note a piece of what the program prints."""
        self.printed[kind].update(content)
        tail = self.tails[kind]
        tail += content
        if len(tail) > 2 * _TAIL:
            del tail[:-_TAIL]
            self._left_out.add(kind)

    def last(self, kind: str, most: int) -> tuple[bytes, bool]:
        """Return the last bytes of what it printed, at most _TAIL, and whether they are all."""
        tail = bytes(self.tails[kind])
        return tail[-most:], kind not in self._left_out and len(tail) <= most

    def table(self) -> dict[str, Any]:
        """Return what two runs of a program are compared by."""
        out, err = (self.printed[kind].hexdigest() for kind in (OUT, ERR))
        return {"exit_code": self.code, "stdout_sha256": out, "stderr_sha256": err}


@dataclass(frozen=True)
class Ran:
    """A program that ran. refused: files of the host that it asked for and was not granted.

    computes: it computed for so long without a system call that the guest's clock followed the host's.
    """

    finished: Finished
    said: Said
    refused: tuple[str, ...]
    computes: bool


def run_program(  # noqa: PLR0913 - by name
    request: Request,
    order: Order,
    tree: Tree,
    stdin: bytes | None,
    results: Path,
    *,
    reads: Sequence[str],
    limits: Limits,
) -> Ran:
    """Run an order in the guest of a request; what it prints comes out of us. Raises RunFailedError, InputError."""
    results.mkdir(parents=True, exist_ok=True)
    handed = Path(mkdtemp(prefix=".handed-", dir=results))
    try:
        hand_over(order, tree, stdin, handed)
        ran = _carried_out(request, handed, results, reads, limits, sys.stdout.buffer, sys.stderr.buffer)
        with suppress(OSError):
            os.rename(handed, ran.finished.directory / HANDED)
        return ran
    finally:
        shutil.rmtree(handed, ignore_errors=True)


def feasible(faults: Faults, request: Request, limits: Limits) -> tuple[Faults, Limits]:
    """Return the faults of a guest's disk and the bounds on the guest, with room for them. Raises InputError."""
    if not faults.asks_the_kernel:
        return faults, limits
    disk = next(iter(request.spec.disk.values()))
    if not disk.is_hardware:
        raise InputError(f"a disk of model {disk.model} has no faults: give another disk")
    if not request.kernel.held([KNOWN_BY]):
        raise InputError(f"--crash-at, --stall-at and the like need another kernel: wblab kernel build {KERNEL}")
    log_end = disk.size + LOG_BYTES
    return replace(faults, log_end=log_end), replace(limits, output_bytes=max(limits.output_bytes, log_end))


def _carried_out(  # noqa: PLR0913, PLR0917
    request: Request,
    handed: Path,
    results: Path,
    reads: Sequence[str],
    limits: Limits,
    out: BinaryIO,
    err: BinaryIO,
) -> Ran:
    """Run what was handed over, in a directory. out, err: get what the program prints. Raises RunFailedError."""
    said, (reading, writing) = Said(), os.pipe()
    sinks = {OUT: out, ERR: err}
    listener = Thread(target=_listen, args=(reading, said, sinks), daemon=True)
    listener.start()
    try:
        finished = make_run(request, results, limits=limits, readable=reads, samples_fd=writing, handed=handed)
    except RunFailedError as error:
        if said.notes:
            raise RunFailedError(f"{said.notes[-1]}; {error}", error.directory) from error
        raise
    finally:
        os.close(writing)
        listener.join()
    (finished.directory / PROGRAM).write_text(json.dumps(said.table() | {"reads": list(reads)}, indent=2) + "\n")
    console = _console(finished.directory)
    refused = [f"/{line.partition(_REFUSED)[2].lstrip('/')}" for line in console if _REFUSED in line]
    return Ran(finished, said, tuple(dict.fromkeys(refused)), any(_COMPUTED in line for line in console))


def again(request: Request, first: Path, results: Path) -> Path:
    """Run the program of a run once more, with what that was given. Return the new run's directory.

    Raises WblabError if it printed something else or ended otherwise; InputError for what is not ours.
    """
    check_found(first / HANDED, "run the command again with 'wblab on'")
    before = json.loads((first / PROGRAM).read_text())
    with open(os.devnull, "wb") as nowhere, TemporaryDirectory(prefix=".handed-", dir=results) as room:
        handed = Path(room) / HANDED
        shutil.copytree(first / HANDED, handed)
        ran = _carried_out(request, handed, results, before["reads"], Limits(), nowhere, nowhere)
        os.rename(handed, ran.finished.directory / HANDED)
    now = ran.said.table()
    if differs := [name for name in now if now[name] != before.get(name)]:
        raise WblabError(f"the program's {differs[0]} differs: see {ran.finished.directory}")
    return ran.finished.directory


def _listen(reading: int, said: Said, sinks: dict[str, BinaryIO]) -> None:
    frames = Frames()
    with open(reading, "rb", buffering=0) as source:
        while piece := source.read(_PIECE):
            for kind, content in frames.feed(piece):
                if kind == EXIT:
                    code, _, time_ns = content.partition(b" ")
                    said.code = int(code) if code.isdigit() and len(code) <= 3 and int(code) < 256 else OURS
                    said.time_ns = int(time_ns) if time_ns.isdigit() and len(time_ns) < 20 else 0
                elif kind == NOTE:
                    said.notes.append(printable(content.decode(errors="replace"))[:500])
                else:
                    said.printed_more(kind, content)
                    with suppress(OSError, ValueError):  # a pipe that nobody reads any more: the program ends anyway
                        sinks[kind].write(content)
                        sinks[kind].flush()


def _console(directory: Path) -> list[str]:
    with (directory / CONSOLE).open("rb") as file:
        return [printable(line) for line in file.read(_CONSOLE_BYTES).decode(errors="replace").splitlines()]


def bring_back(directory: Path, to: Path) -> list[str]:
    """Unpack what --keep named from a run into a directory; nothing outside of it is written. Return the names.

    Raises WblabError for an archive that is none: the guest's program may have written it.
    """
    archive = directory / LEFT / KEPT
    if not archive.is_file():
        return []
    try:
        with tarfile.open(archive) as file:
            members = file.getmembers()
            if hasattr(tarfile, "data_filter"):
                file.extractall(to, filter="data")
            else:  # Python 3.11.3 and older, as in Debian 12
                file.extractall(to, members=[plain(member, to) for member in members])
    except (tarfile.TarError, OSError) as error:
        raise WblabError(f"cannot bring back what {archive} has: {error}") from None
    size = sum(member.size for member in members)
    return [f"{len(members)} files, {format_bytes(Bytes(size))}"]


def plain(member: tarfile.TarInfo, to: Path) -> tarfile.TarInfo:
    """Return a file or a directory of an archive as ours. Raises TarError for all else, and for what lies outside."""
    target, inside = os.path.realpath(to / member.name), os.path.realpath(to)
    if not (member.isfile() or member.isdir()) or os.path.commonpath([target, inside]) != inside:
        raise tarfile.TarError(f"{printable(member.name)} is no file, or lies outside")
    member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
    member.mode = member.mode & 0o755 | 0o600
    return member


def as_json(ran: Ran) -> dict[str, Any]:
    """Return what is known of a program that ran, for programs."""
    return {
        "directory": str(ran.finished.directory),
        "exit_code": ran.said.code,
        "time_ns": ran.said.time_ns,
        "notes": ran.said.notes,
        "refused": list(ran.refused),
        "computes": ran.computes,
    }
