"""The gauge of this machine: all its sources, read once a second. It opens files of /proc, /sys and tracefs only."""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

from wblab.live.gauge.blocked import Blocked, Due
from wblab.live.gauge.catalogue import (
    AVAILABLE,
    BACKGROUND,
    DIRTY,
    FULL,
    METRICS,
    PROCESSOR,
    SOME,
    SOURCES,
    THRESHOLD,
    WRITEBACK,
    Source,
)
from wblab.live.gauge.counts import Counts
from wblab.live.gauge.disks import Idleness, count_disks, count_limits
from wblab.live.gauge.groups import Groups
from wblab.live.gauge.throttling import EVENTS, Throttling
from wblab.live.monitor.disks import DISKSTATS, Bdis
from wblab.live.monitor.proc import PRESSURE, KeptOpen, cache_state, stalls_ns, vmstat
from wblab.live.monitor.sampler import open_events
from wblab.live.monitor.samples import CacheState
from wblab.live.monitor.tracetext import TraceText
from wblab.machine.tasks import asleep, no_stacks, stack_of
from wblab.machine.undo import Undo

_LIMITS_EACH = 10  # ticks between looks at the limits of queues, and at what number is whose
_CHUNK_BYTES = 1 << 16
_PRESSED = 10  # tasks waited in a tenth of the time


def count_state(counts: Counts, state: CacheState) -> None:
    """Take over the state of the page cache."""
    for metric, value in (
        (DIRTY, state.dirty),
        (WRITEBACK, state.writeback),
        (THRESHOLD, state.threshold),
        (BACKGROUND, state.background),
    ):
        counts.put(metric, value)


class ThisMachine:
    """Reads the machine's sources into counts. missing: why a source cannot be read, by source."""

    def __init__(self, counts: Counts, undo: Undo, stack: ExitStack) -> None:
        self._counts, self._page_bytes, self._ticks = counts, os.sysconf("SC_PAGESIZE"), 0
        self.missing: dict[Source, str] = {}
        self._vmstat = self._opened("memory", vmstat)
        self._pressure = self._opened("pressure", _pressure)
        self._diskstats = self._opened("disks", lambda: KeptOpen(DISKSTATS))
        self._pressed_ns = (0, 0)  # when the pressure was read, and what it was
        self._bdis, self._text, self._due = Bdis({}), TraceText(), Due()
        self._pipe, untraced = open_events(undo, "gauge", EVENTS)
        self._throttling: Throttling | None = None
        self._idleness = Idleness(counts)
        if self._pipe is None:
            self.missing["tracepoints"] = untraced
        else:
            stack.callback(os.close, self._pipe)
            self._throttling = Throttling(counts, self._bdis.disk, Groups().path)
        if reason := no_stacks():
            self.missing["stacks"] = reason
        self._blocked = Blocked(counts, (lambda tid: []) if reason else stack_of)
        for source in SOURCES:
            if source != "gauge":
                counts.put(AVAILABLE, int(source not in self.missing), source)

    def tick(self, now_ns: int) -> None:
        """Read everything that is due."""
        with self._counts.lock:
            if self._vmstat:
                count_state(self._counts, cache_state(self._vmstat.read(), self._page_bytes, now_ns))
            is_pressed = self._read_pressure(now_ns)
            if self._diskstats:
                self._read_disks(self._diskstats)
            self._read_events(now_ns)
            if self._due.is_now(now_ns, is_pressed=is_pressed):
                begun_ns = time.thread_time_ns()
                self._blocked.look(now_ns, asleep())
                self._due.looked(now_ns, time.thread_time_ns() - begun_ns)
            self._counts.put(PROCESSOR, time.process_time_ns())
        self._ticks += 1

    def _read_pressure(self, now_ns: int) -> bool:
        """Read the pressure, and return whether tasks waited for I/O since the last time, or perhaps did."""
        if not self._pressure:
            return True
        some_ns, full_ns = stalls_ns(self._pressure.read())
        self._counts.put(SOME, some_ns)
        self._counts.put(FULL, full_ns)
        before_ns, before_some_ns = self._pressed_ns
        self._pressed_ns = (now_ns, some_ns)
        return (some_ns - before_some_ns) * _PRESSED >= now_ns - before_ns

    def _read_disks(self, file: KeptOpen) -> None:
        disks = count_disks(self._counts, file.read())
        if self._ticks % _LIMITS_EACH == 0:
            count_limits(self._counts, disks)
            self._bdis.forget()
        if self._throttling:
            for disk in disks:
                self._throttling.begin(disk)

    def _read_events(self, now_ns: int) -> None:
        if self._pipe is None or not self._throttling:
            return
        with suppress(BlockingIOError):
            while chunk := os.read(self._pipe, _CHUNK_BYTES):
                for item in self._text.feed(chunk):
                    self._throttling.count(item)
        self._idleness.look(now_ns)
        self._throttling.settle(self._idleness.is_idle)

    def _opened(self, source: Source, opened: Callable[[], KeptOpen]) -> KeptOpen | None:
        try:
            return opened()
        except OSError as error:
            self.missing[source] = error.strerror or "cannot be read"
            return None

    def lacking(self) -> str:
        """Return in a line which series are not exported, and why; empty if all are."""
        said = []
        for source, reason in self.missing.items():
            names = [metric.name for metric in METRICS if metric.source == source]
            what = f"no {_shortened(names)}" if names else "tasks are counted as of an unknown kind"
            said.append(f"{what} ({SOURCES[source]}: {reason})")
        return "; ".join(said)


def _pressure() -> KeptOpen:
    file = KeptOpen(PRESSURE)
    file.read()  # fails if pressure accounting is turned off
    return file


def _shortened(names: list[str]) -> str:
    """Return names as patterns of the shell: all that begin alike, to the second word, as one."""
    return ", ".join(dict.fromkeys("_".join(name.split("_")[:3]) + "_*" for name in names))
