"""The loads of an experiment: started together, waited for, stopped in order."""

import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from wblab.core import layout
from wblab.core.child import describe_exit, fork_child
from wblab.core.cycles import Stamps, check_ending, ending, run_cycles, stamps_for
from wblab.core.errors import WblabError
from wblab.core.loads import Load
from wblab.core.spec import Spec
from wblab.core.streams import draw_stream, phase_stream
from wblab.core.syscalls import set_ioprio, set_process_name
from wblab.core.units import NS_PER_S

# A seed moves each load's phase by up to this much: no more than a real machine does by chance.
PHASE_SPREAD_NS = 50_000_000


@dataclass(frozen=True)
class Running:
    """A load that was started."""

    name: str
    load: Load
    pid: int
    stamps: Stamps


def phase_ns(seed: int, name: str) -> int:
    """Return the offset of a load's start that the experiment's seed gives it, in ns."""
    return phase_stream(seed, name).randrange(PHASE_SPREAD_NS)


def lay_out_files(spec: Spec, progress: Callable[[], None]) -> None:
    """Make the files that loads expect; `progress` is called again and again. Raises WblabError."""
    for name, load in spec.load.items():
        try:
            load.lay_out(layout.mount_point(spec.disk_of(name)), progress)
        except OSError as error:
            raise WblabError(f"cannot make the files of the load {name}: {error.strerror}") from None


def start_loads(spec: Spec, start_ns: int, groups: Mapping[str, Path] = MappingProxyType({})) -> list[Running]:
    """Start all loads; their first cycles begin at `start_ns` (CLOCK_MONOTONIC), their own start and phase.

    groups: the `cgroup.procs` of the control group that a load joins, by its name.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # waited for in wait_for
    running = []
    for name, load in spec.load.items():
        first_ns = start_ns + load.start + phase_ns(spec.seed, name)
        stamps = stamps_for(load)
        running.append(Running(name, load, fork_child(_task(name, spec, stamps, first_ns, groups.get(name))), stamps))
    return running


def wait_for(running: list[Running], deadline_ns: int, progress: Callable[[], None]) -> None:
    """Wait until all these loads have ended; `progress` is called about once a second. Raises WblabError.

    The deadline is a time of CLOCK_MONOTONIC in ns. A load that failed ends the wait at once.
    """
    left = {item.pid: item for item in running}
    while left:
        for pid in list(left):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                _check_end(left.pop(pid), status)
        if not left:
            return
        if time.monotonic_ns() >= deadline_ns:
            names = ", ".join(item.name for item in left.values())
            raise WblabError(f"the load {names} did not end within the time limit: raise time_limit or lower its size")
        signal.sigtimedwait({signal.SIGCHLD}, 1.0)
        progress()


def stop_loads(running: list[Running], order: list[str], limit_s: float) -> None:
    """Stop the loads in this order, each waited for before the next. Raises WblabError."""
    by_name = {item.name: item for item in running}
    for name in order:
        os.kill(by_name[name].pid, signal.SIGTERM)
        wait_for([by_name[name]], time.monotonic_ns() + int(limit_s * NS_PER_S), lambda: None)


def _task(name: str, spec: Spec, stamps: Stamps, first_ns: int, group: Path | None) -> Callable[[], None]:
    load = spec.load[name]

    def task() -> None:
        set_process_name(name)
        if group:
            group.write_text("0")  # the writer itself
        if load.ioclass != "none":
            set_ioprio(load.ioclass, load.iolevel)
        run_cycles(load, layout.mount_point(spec.disk_of(name)), stamps, first_ns, draw_stream(spec.seed, name))

    return task


def _check_end(item: Running, status: int) -> None:
    if status:
        raise WblabError(f"the load {item.name} died with {describe_exit(status)}: see the console")
    check_ending(item.name, ending(item.stamps))
