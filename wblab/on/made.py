"""A user's program run in a guest: what it prints comes through while it runs, and its exit code at the end."""

import json
import os
import shutil
import signal
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import note
from wblab.core.errors import InputError, WblabError
from wblab.core.layout import LEFT
from wblab.core.units import Bytes, format_bytes
from wblab.host.process.limits import Limits
from wblab.host.recorded import Finished, RunFailedError
from wblab.host.request import Request, make_run
from wblab.lab.formats import CONSOLE, HANDED
from wblab.lab.held import held
from wblab.lab.oomkills import oom_kills
from wblab.lab.oomkills import said as kill_said
from wblab.lab.printable import printable
from wblab.machine.directory import workroom
from wblab.machine.trust import check_found
from wblab.on.faults import KNOWN_BY, LOG_BYTES, TEARS_BY, Faults
from wblab.on.handed import PACKAGES, state
from wblab.on.heard import Said, listening
from wblab.on.order import ERR, KEPT, ORDER, OUT, Order, read_order
from wblab.on.signals import forget_signal, passed_on
from wblab.on.tree import hand_over
from wblab.on.world import KERNEL

if TYPE_CHECKING:
    from wblab.on.asked import Prepared

PROGRAM = "program.json"  # in the run directory: how the program ended, and digests of what it printed
_REFUSED = "hostfs: not granted: "
_COMPUTED = "um: a program computed for long"
_CONSOLE_BYTES = 8 << 20
_MOST_KILLS, _MOST_CHANGED = 3, 5  # that are named
_BY_HOST = (
    "it computed for long without a system call, or this machine was too busy to run it: its clock followed the host's"
)


@dataclass(frozen=True)
class Ran:
    """A program that ran. refused: files of the host that it asked for and was not granted.

    order: as the guest got it. computes: it computed for so long without a system call that the guest's clock followed
    the host's. signals: that it got of us.
    """

    finished: Finished
    order: Order
    said: Said
    refused: tuple[str, ...]
    computes: bool
    signals: tuple[signal.Signals, ...] = ()

    @property
    def differs_for(self) -> str:
        """Why the run does not repeat to the bit; an empty text: it does."""
        if self.computes:
            return _BY_HOST
        if self.signals:
            return "it got a signal"
        return "" if self.finished.record["spec"]["clock"]["mode"] == "virtual" else "its clock is this machine's"


def run_program(prepared: "Prepared", stdin: bytes | None) -> Ran:
    """Run what was prepared; what the program prints comes out of us.

    Raises RunFailedError, InputError; UnreadError when nobody reads our standard output any more.
    """
    request, results = prepared.request, prepared.results
    with _room(results) as handed:
        hand_over(prepared.order, prepared.tree, stdin, handed)
        with passed_on(handed) as came:
            return _carried_out(request, handed, results, prepared.reads, prepared.limits, {OUT: 1, ERR: 2}, came)


@contextmanager
def _room(results: Path) -> Iterator[Path]:
    """Yield a directory for what is handed over. Those that killed processes left are removed. Raises InputError."""
    try:
        with held(results, make=True) as parent, workroom(parent, HANDED) as room:
            handed = Path(os.path.realpath(room), HANDED)  # a path for the guest, which has no such descriptor
            handed.mkdir()
            yield handed
    except OSError as error:
        raise InputError(f"cannot write to {results}: {error.strerror}: make room, or give another --exp") from None


def feasible(faults: Faults, request: Request, limits: Limits) -> tuple[Faults, Limits]:
    """Return the faults of a guest's disk and the bounds on the guest, with room for them. Raises InputError."""
    if not faults.asks_the_kernel:
        return faults, limits
    disk = next(iter(request.spec.disk.values()))
    if not disk.is_hardware:
        raise InputError(f"a disk of model {disk.model} has no faults: give another disk")
    if request.spec.clock.mode == "real":
        raise InputError("--clock real: faults of the disk need virtual time: leave one of them out")
    needed = [KNOWN_BY, *([TEARS_BY] if faults.asks_a_newer_kernel else [])]
    if request.kernel.held(needed) != set(needed):
        raise InputError(f"--crash-at, --stall-at and the like need another kernel: wblab kernel build {KERNEL}")
    log_end = disk.size + LOG_BYTES
    return replace(faults, log_end=log_end), replace(limits, output_bytes=max(limits.output_bytes, log_end))


def _carried_out(  # noqa: PLR0913, PLR0917
    request: Request,
    handed: Path,
    results: Path,
    reads: Sequence[str],
    limits: Limits,
    sinks: Mapping[str, int],
    came: Sequence[signal.Signals] = (),
) -> Ran:
    """Run what was handed over, in a directory, which then lies in that of the run.

    sinks: as of `listening`. came: signals that go on to the program.
    """
    with listening(sinks) as (said, writing):
        try:
            finished = make_run(
                request,
                results,
                lambda *_: said.check_read(),
                limits=limits,
                readable=reads,
                samples_fd=writing,
                handed=handed,
            )
        except RunFailedError as error:
            said.check_read()
            if said.notes:
                raise RunFailedError(f"{said.notes[-1]}; {error}", error.directory) from error
            raise
    directory = finished.directory
    os.rename(handed, directory / HANDED)
    forget_signal(directory / HANDED)
    console = _console(directory)
    computes = any(_COMPUTED in line for line in console)
    table = said.table() | {
        "reads": {path: state(path) for path in reads},
        "packages": {path: state(path) for path in PACKAGES},
        "computes": computes,
        "signals": [*map(int, came)],
    }
    (directory / PROGRAM).write_text(json.dumps(table, indent=2) + "\n")
    refused = [f"/{line.partition(_REFUSED)[2].lstrip('/')}" for line in console if _REFUSED in line]
    said.notes += [f"{kill_said(kill)}: raise --memory" for kill in oom_kills(directory)[:_MOST_KILLS]]
    order = read_order((directory / HANDED / ORDER).read_text())
    return Ran(finished, order, said, tuple(dict.fromkeys(refused)), computes, tuple(came))


def again(request: Request, first: Path, results: Path) -> Path:
    """Run the program of a run once more, with what that was given. Return the new run's directory.

    Raises WblabError if it printed something else or ended otherwise, or if one of the two went by the host's clock;
    InputError for what is not ours.
    """
    check_found(first / HANDED, "run the command again with 'wblab on'")
    before = json.loads((first / PROGRAM).read_text())
    if before.get("signals"):
        raise InputError(f"{first} got a signal while it ran: such a run does not repeat")
    reads = before["reads"]
    states = {**reads, **before["packages"]} if "packages" in before else {}  # of older runs nothing is known
    if changed := [path for path, was in states.items() if state(path) != was]:
        named = printable(", ".join(changed[:_MOST_CHANGED]))
        note(f"changed since: {named}: the program may read it, and go another way")
    _, limits = feasible(read_order((first / HANDED / ORDER).read_text()).faults, request, Limits())
    with open(os.devnull, "wb") as nowhere, _room(results) as handed:
        shutil.copytree(first / HANDED, handed, dirs_exist_ok=True)
        sinks = dict.fromkeys((OUT, ERR), nowhere.fileno())
        ran = _carried_out(request, handed, results, list(reads), limits, sinks)
    now, place = ran.said.table(), ran.finished.directory
    if went := [str(run) for run, computes in ((first, before.get("computes")), (place, ran.computes)) if computes]:
        raise WblabError(
            f"the clock of {went[0]} followed the host's for a while, as its program computed for long without a "
            "system call, or this machine was too busy to run it: such a run does not repeat"
        )
    if differs := [name for name in now if now[name] != before.get(name)]:
        raise WblabError(f"the program's {differs[0]} differs: see {place}")
    return place


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
    size = count = 0
    try:
        with tarfile.open(archive) as file:
            # Not by a filter of tarfile: it permits links, and Python 3.11.3 and older, as in Debian 12, have none.
            options: dict[str, Any] = {"filter": "fully_trusted"} if hasattr(tarfile, "data_filter") else {}
            for member in file:
                file.extract(plain(member, to), to, **options)
                size, count = size + member.size, count + 1
    except (tarfile.TarError, OSError, ValueError) as error:
        raise WblabError(f"cannot bring back what {archive} has: {printable(str(error))}") from None
    return [f"{count} file{'' if count == 1 else 's'}, {format_bytes(Bytes(size))}"]


def plain(member: tarfile.TarInfo, to: Path) -> tarfile.TarInfo:
    """Return a file or a directory of an archive as ours. Raises TarError for all else, and for what lies outside."""
    target, inside = os.path.realpath(to / member.name), os.path.realpath(to)
    is_plain = member.isdir() or (member.isfile() and not member.issparse())
    if not is_plain or os.path.commonpath([target, inside]) != inside:
        raise tarfile.TarError(f"{printable(member.name)} is no file, or lies outside")
    member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
    member.mode = member.mode & 0o755 | (0o700 if member.isdir() else 0o600)
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
        "signals": [*map(int, ran.signals)],
        "wall_s": ran.finished.record["wall_s"],
        "differs_for": ran.differs_for,
    }
