"""The sampler: a process that takes samples and sends them as lines, without taking part in what it watches.

A monitor that waits for the disk shows nothing when it matters. So from its first batch on it opens files in /proc and
/sys only, writes only to its output, allocates no more memory, and has all of it locked. Events wait in the kernel's
buffer with their times, in case it is late.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.syscalls import set_process_name
from wblab.core.units import NS_PER_S
from wblab.lab.held import open_directory
from wblab.live.monitor.disks import Bdis, DiskActivity
from wblab.live.monitor.probe import EVENTS, Probe, ProbeSamples, Reader
from wblab.live.monitor.proc import IoPressure, Writers, cache_state, lock_all, reserve, task_name, vmstat
from wblab.live.monitor.samples import Batch, End, Item, SampleSource, line
from wblab.machine.directory import own_directory
from wblab.machine.processes import end_with
from wblab.machine.tracefs import Instance
from wblab.machine.undo import NoUndo, Undo

TICK_NS = 100_000_000
GRAIN_NS = 50_000_000  # of several states within this time, keep the last

_WRITERS_EACH = 10  # ticks between samples of writers: scanning all processes costs most
_WRITERS_MOST = 6
_DISKS_MOST = 6
_HEAP_BYTES = 4 << 20
_CHUNK_BYTES = 1 << 14


@dataclass(frozen=True)
class SamplerRequest:
    """What to sample. name: of the source, in words. to: file for the lines; empty: standard output.

    probe: directory of a probe; empty: none. passing: the machine is a guest that ends with us and has its programs on
    another disk than the watched one: undo nothing, and lock none of its little memory. disks: names of the disks to
    show; none: the busiest. called: names to show in place of the kernel's; empty: writers are shown without a disk.
    """

    name: str
    to: str = ""
    probe: str = ""
    passing: bool = False
    disks: tuple[str, ...] = ()
    called: dict[str, str] = field(default_factory=dict)


def main() -> None:
    """Sample as the first argument (JSON) requests, until SIGTERM or SIGINT, or until nobody reads."""
    request = SamplerRequest(**json.loads(sys.argv[1]))
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: stopped.append(number))
    end_with(os.getppid(), signal.SIGTERM)
    set_process_name("wblab-sampler")
    output = os.open(request.to, os.O_WRONLY | os.O_NOCTTY) if request.to else 1
    with suppress(BrokenPipeError):  # nobody reads: nothing left to do
        failures: tuple[str, ...] = ()
        try:
            with NoUndo() if request.passing else Undo() as undo:
                sample(request, undo, lambda item: send(output, item), lambda: bool(stopped))
            failures = undo.failures
        except BrokenPipeError:
            raise
        except (OSError, WblabError) as error:
            failures = (f"the sampler failed: {error.strerror if isinstance(error, OSError) else error}",)
        send(output, End("; ".join(failures) or "the sampler was stopped", failed=bool(failures)))


def sample(request: SamplerRequest, undo: Undo, tell: Callable[[Item], None], is_stopped: Callable[[], bool]) -> None:
    """Send the source, then a batch each tick until stopped."""
    with ExitStack() as stack:
        probe = None
        if request.probe:
            parent = open_directory(Path(request.probe))
            directory = own_directory(parent, f"wblab-probe-{os.urandom(4).hex()}", undo)
            probe = Probe(directory, locked=not request.passing)
            stack.callback(probe.stop)
        pipe, untraced = open_events(undo, "monitor", EVENTS)
        if pipe is not None:
            stack.callback(os.close, pipe)
        now_ns = time.monotonic_ns()
        take = Taker(pipe, probe, now_ns, request)
        tell(SampleSource(f"{request.name}, Linux {os.uname().release}", now_ns, untraced))
        if not request.passing:
            reserve(_HEAP_BYTES)
            lock_all()
        while not is_stopped():
            tell(take.batch(time.monotonic_ns()))
            time.sleep((TICK_NS - time.monotonic_ns() % TICK_NS) / NS_PER_S)


def open_events(undo: Undo, kind: str, events: Mapping[str, str]) -> tuple[int | None, str]:
    """Return the pipe of our own trace instance that records events, or None and the reason why there is none.

    kind: of the instance. events: with their filters, empty for all.
    """
    try:
        instance = Instance(kind, undo)
        for event, wanted in events.items():
            if instance.enable(event) and wanted:
                instance.put(f"events/{event.replace(':', '/')}/filter", wanted)
        instance.start()
        return os.open(instance.path / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), ""
    except OSError as error:
        return None, f"{error.strerror}{'' if os.geteuid() == 0 else ': only root may trace'}"


class Taker:
    """Takes all samples since the last call."""

    def __init__(self, pipe: int | None, probe: Probe | None, now_ns: int, request: SamplerRequest) -> None:
        self._pipe = pipe
        self._probe = probe
        self._page_bytes = os.sysconf("SC_PAGESIZE")
        self._bdis = Bdis(request.called)
        self._reader = Reader(self._page_bytes, GRAIN_NS, task_name, self._bdis.disk)
        self._dirtied: dict[int, set[str]] = {}
        self._vmstat = vmstat()
        self._stalls = IoPressure(now_ns)
        self._writers = Writers(_WRITERS_MOST, now_ns)
        self._disks = DiskActivity(_DISKS_MOST, request.disks, now_ns, request.called)
        self._ticks = 0

    def batch(self, now_ns: int) -> Batch:
        """Return the samples up to now.

        To show its thresholds in /proc/vmstat the kernel computes its limits, which is an event. So with tracing each
        batch has a state with the dirty limit.
        """
        vmstat_text = self._vmstat.read()
        seen = ProbeSamples()
        if self._pipe is not None:
            with suppress(BlockingIOError):
                while chunk := os.read(self._pipe, _CHUNK_BYTES):
                    self._reader.feed(chunk, seen)
        if not seen.states:
            seen.states.append(cache_state(vmstat_text, self._page_bytes, now_ns))
        for thread, disks in seen.dirtied.items():
            self._dirtied.setdefault(thread, set()).update(disks)
        self._ticks += 1
        is_writers_turn = self._ticks % _WRITERS_EACH == 0
        batch = Batch(
            now_ns,
            states=tuple(seen.states),
            throttled=tuple(seen.throttled),
            waits=self._probe.since_last(now_ns) if self._probe else (),
            pressures=self._stalls.since_last(now_ns),
            writers=self._writers.since_last(now_ns, self._dirtied) if is_writers_turn else (),
            disks=self._disks.since_last(now_ns) if is_writers_turn else (),
            lost=seen.lost,
        )
        if is_writers_turn:
            self._dirtied.clear()
            self._bdis.forget()
        return batch


def send(output: int, item: Item) -> None:
    """Write one whole line. Raises BrokenPipeError if nobody reads."""
    rest = memoryview(line(item))
    while rest:
        rest = rest[os.write(output, rest) :]


if __name__ == "__main__":
    main()
