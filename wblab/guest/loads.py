"""The loads of an experiment: their files, their start together, the wait for them, and their stops in order."""

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from wblab.core.child import describe_exit, fork_child
from wblab.core.cycles import Stamps, check_ending, ending, run_cycles, stamps_for
from wblab.core.errors import WblabError
from wblab.core.fiemap import extents
from wblab.core.loads import Load
from wblab.core.rundir import FileRecord
from wblab.core.spec import Spec
from wblab.core.streams import draw_stream, phase_stream
from wblab.core.syscalls import set_ioprio, set_process_name
from wblab.core.units import NS_PER_S
from wblab.guest.due import Agenda, Deadline
from wblab.guest.tree import end, stop

# A seed delays each load by up to this much, which is no more than chance does on a real machine.
PHASE_SPREAD_NS = 50_000_000


@dataclass(frozen=True)
class Running:
    """A load that was started. may_fail: its failure does not end the run."""

    name: str
    load: Load
    pid: int
    stamps: Stamps
    may_fail: bool = False

    @property
    def is_halted(self) -> bool:
        """Whether the guest stopped it for good; its process still exists."""
        return ending(self.stamps).end == "halted"


def phase_ns(seed: int, name: str) -> int:
    """Return the offset of a load's start, in ns, which the seed decides."""
    return phase_stream(seed, name).randrange(PHASE_SPREAD_NS)


def lay_out_files(loads: Mapping[str, Load], places: Mapping[str, Path], progress: Callable[[], None]) -> None:
    """Make the files that loads need; call `progress` from time to time. Raises WblabError.

    places: where each load uses its disk, here and below.
    """
    for name, load in loads.items():
        try:
            load.lay_out(places[name], progress)
        except OSError as error:
            raise WblabError(f"cannot make the files of the load {name}: {error.strerror}") from None


def map_files(loads: Mapping[str, Load], places: Mapping[str, Path]) -> dict[str, dict[str, FileRecord]]:
    """Return where files are on their disks, by load and file name, for the kinds of load with `maps_files`.

    Missing files, and files on a filesystem without FIEMAP, are left out.
    """
    found: dict[str, dict[str, FileRecord]] = {}
    for name, load in loads.items():
        for file in load.files if load.maps_files else ():
            with suppress(OSError):
                found.setdefault(name, {})[file] = _record(places[name] / file)
    return found


def _record(path: Path) -> FileRecord:
    fd = os.open(path, os.O_RDONLY)
    try:
        return FileRecord(os.fstat(fd).st_size, os.fstatvfs(fd).f_frsize, extents(fd))
    finally:
        os.close(fd)


def start_loads(
    spec: Spec,
    places: Mapping[str, Path],
    start_ns: int,
    groups: Mapping[str, Path] = MappingProxyType({}),
    batch: int = 0,
) -> list[Running]:
    """Start all loads; each begins its first cycle at `start_ns` (CLOCK_MONOTONIC) plus its own start and phase.

    groups: the `cgroup.procs` of the group that a load joins, by the load's name. batch: as in run_cycles.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # waited for in wait_for
    running = []
    for name, load in spec.load.items():
        first_ns = start_ns + load.start + phase_ns(spec.seed, name)
        stamps = stamps_for(load)
        pid = fork_child(_task(name, spec, places[name], stamps, first_ns, groups.get(name), batch))
        running.append(Running(name, load, pid, stamps, name in spec.may_fail))
    return running


def wait_for(
    running: list[Running],
    deadline: Deadline,
    progress: Callable[[], None],
    *,
    others: Sequence[Running] = (),
    agenda: Agenda | None = None,
) -> None:
    """Wait until all these loads have ended; call `progress` about once a second. Raises WblabError.

    others: loads that are not waited for; a failure of any load ends the wait. agenda: actions to run meanwhile.
    If the deadline is no failure, loads that still run at it are stopped for good.
    """
    left, due = {item.pid: item for item in running}, Agenda() if agenda is None else agenda
    while left:
        for pid in list(left):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                _check_end(left.pop(pid), status)
        for item in others:
            _check_alive(item)
        if not left:
            return
        if time.monotonic_ns() >= deadline.time_ns():
            if deadline.is_cut():
                for item in left.values():
                    halt(item)
                return
            names = ", ".join(item.name for item in left.values())
            raise WblabError(f"the load {names} did not end within the time limit: raise time_limit or lower its size")
        due.act()
        next_ns = due.next_ns()
        until_s = 1.0 if next_ns is None else (next_ns - time.monotonic_ns()) / NS_PER_S
        signal.sigtimedwait({signal.SIGCHLD}, min(1.0, max(0.0, until_s)))
        progress()


def stop_loads(
    running: list[Running],
    order: list[str],
    deadline: Deadline,
    agenda: Agenda | None = None,
    before_kills: Callable[[], None] = lambda: None,
) -> None:
    """Stop the loads in this order and wait for each before the next; then kill the halted ones.

    A stalled load ends only after its stall. deadline, agenda: as in wait_for. before_kills: called if there are halted
    ones. Raises WblabError.
    """
    by_name = {item.name: item for item in running}
    for name in order:
        if not by_name[name].is_halted:
            os.kill(by_name[name].pid, signal.SIGTERM)
            wait_for([by_name[name]], deadline, lambda: None, agenda=agenda)
    halted = [item for item in running if item.is_halted]
    if halted:
        before_kills()
    for item in halted:
        end(item.pid)


def halt(item: Running) -> None:
    """Stop a load for good, unless it has ended; this moment is its last boundary.

    SIGSTOP needs nothing of the load. So, until then, its memory is byte for byte that of a run without the stop.
    """
    if _is_running(item):
        stop(item.pid)
        item.stamps.halt(time.monotonic_ns())


def _is_running(item: Running) -> bool:
    try:
        left = os.waitid(os.P_PID, item.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # its status was already collected
        return False
    return left is None and ending(item.stamps).end == "failed"  # "failed" until it reports another end


def _task(  # noqa: PLR0913, PLR0917
    name: str, spec: Spec, place: Path, stamps: Stamps, first_ns: int, group: Path | None, batch: int
) -> Callable[[], None]:
    load, draws = spec.load[name], draw_stream(spec.seed, name)

    def task() -> None:
        set_process_name(name)
        if group:
            group.write_text("0")  # 0: the process that writes it
        if load.ioclass != "none":
            set_ioprio(load.ioclass, load.iolevel)
        run_cycles(load, place, stamps, first_ns, draws, batch=batch)

    return task


def _check_alive(item: Running) -> None:
    """Raise WblabError if a load failed; leave its status for waitpid."""
    found = os.waitid(os.P_PID, item.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found and found.si_pid:
        _check_end(item, found.si_status << 8 if found.si_code == os.CLD_EXITED else found.si_status)


def _check_end(item: Running, status: int) -> None:
    if status:
        raise WblabError(f"the load {item.name} died with {describe_exit(status)}: see the console")
    ended = ending(item.stamps)
    if not (item.may_fail and (ended.end == "failed" or ended.status)):
        check_ending(item.name, ended)
