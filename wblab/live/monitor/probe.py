"""A probe: a process that writes a byte to a new file at intervals, as an innocent program would, and is timed.

A wait is visible while it lasts: the times are in memory shared with the sampler.
"""

import mmap
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from wblab.core.child import fork_child
from wblab.core.errors import InputError
from wblab.core.syscalls import set_process_name
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.lab.held import open_directory, path_of
from wblab.live.monitor.proc import lock_all
from wblab.live.monitor.samples import CacheState, Throttled, Waited
from wblab.live.monitor.tracetext import LostEvents, TraceLine, TraceText, cache_state_of
from wblab.machine.processes import end_with

# Writeback events of a trace instance's trace_pipe as samples.

# Record one of 256 pages that become dirty: whoever writes 1 MiB in one go is still seen.
_SOME = "!(index & 255)"
EVENTS = {
    "writeback:global_dirty_state": "",
    # the task is throttled; other events may be a thousand times as frequent
    "writeback:balance_dirty_pages": "pause > 0",
    "writeback:writeback_dirty_folio": _SOME,
    "writeback:writeback_dirty_page": _SOME,  # its name until Linux 5.17
}
_UNKNOWN = "<...>"  # the kernel has forgotten the task's name


@dataclass
class ProbeSamples:
    """Samples since the last call. dirtied: by thread, the disks whose pages it made dirty."""

    states: list[CacheState] = field(default_factory=list)
    throttled: list[Throttled] = field(default_factory=list)
    dirtied: dict[int, set[str]] = field(default_factory=dict)
    lost: int = 0


class Reader:
    """Makes samples from chunks of text; keeps the last state of each `grain_ns`."""

    def __init__(
        self, page_bytes: int, grain_ns: int, name_of: Callable[[int], str], disk_of: Callable[[str], str]
    ) -> None:
        """`name_of` returns a task's name from its pid, for names that the kernel has forgotten.

        `disk_of` returns a disk's name from that of its bdi, such as 8:0; empty where disks are not distinguished.
        """
        self._page_bytes = page_bytes
        self._grain_ns = grain_ns
        self._name_of = name_of
        self._disk_of = disk_of
        self._text = TraceText()

    def feed(self, chunk: bytes, seen: ProbeSamples) -> None:
        """Add a chunk of the pipe to `seen`; an unfinished line waits for its end."""
        for item in self._text.feed(chunk):
            if isinstance(item, LostEvents):
                seen.lost += item.count
            else:
                self._event(item, seen)

    def _event(self, line: TraceLine, seen: ProbeSamples) -> None:
        if line.event == "global_dirty_state":
            if seen.states and seen.states[-1].at_ns // self._grain_ns == line.at_ns // self._grain_ns:
                seen.states.pop()
            seen.states.append(cache_state_of(line, self._page_bytes))
        elif line.event == "balance_dirty_pages" and (pause_ms := line.values.get(b"pause", 0)) > 0:
            name = self._name_of(line.pid) if line.task == _UNKNOWN else line.task
            seen.throttled.append(Throttled(line.at_ns, name, pause_ms * NS_PER_MS, self._disk(line)))
        elif line.event.startswith("writeback_dirty_") and (disk := self._disk(line)):
            seen.dirtied.setdefault(line.pid, set()).add(disk)

    def _disk(self, line: TraceLine) -> str:
        return self._disk_of(line.bdi) if line.bdi else ""


IDLE_NS = 100_000_000
NAME = "probe"
Writer = Callable[[list[str]], Callable[[int], None]]

FILES = 32  # each new one replaces the oldest
_KEPT = 1024  # writes kept until they are read
_SINCE, _COUNT, _FIRST = 0, 1, 2


def probe_place(directory: Path) -> Path:
    """Return the path of a directory in which a probe may write. Raises InputError."""
    if not (directory.is_dir() and os.access(directory, os.W_OK | os.X_OK)):
        raise InputError(f"--dir: cannot write to {str(directory)!r}: give another directory")
    try:
        held = open_directory(directory)
    except OSError as error:
        raise InputError(f"--dir: cannot use {str(directory)!r}: {error.strerror}") from None
    try:
        return path_of(held)
    finally:
        os.close(held)


class Probe:
    """A probe that writes in a directory of its own, from now until it is stopped."""

    def __init__(
        self,
        directory: int,
        *,
        locked: bool,
        writer: Writer | None = None,
        idle_ns: int = IDLE_NS,
    ) -> None:
        """Start it in a directory given by descriptor; `locked` locks its memory too.

        writer: returns what writes the file of a number, from all names. idle_ns: from one write to the next.
        """
        self._slots = memoryview(mmap.mmap(-1, 8 * (_FIRST + 2 * _KEPT))).cast("q")
        self._reported = 0
        parent = os.getpid()

        def run() -> None:
            end_with(parent)
            if locked:
                lock_all()
            _run(directory, self._slots, writer or _writer, idle_ns)

        self.pid = fork_child(run)

    def since_last(self, now_ns: int) -> tuple[Waited, ...]:
        """Return the writes that ended since the last call, and the one in progress."""
        slots = self._slots
        since_ns, count = slots[_SINCE], slots[_COUNT]  # in this order: a write that ends in between counts as ended
        over = []
        for number in range(max(self._reported, count - _KEPT), count):
            at = _FIRST + 2 * (number % _KEPT)
            over.append(Waited(NAME, slots[at], slots[at + 1], over=True))
        self._reported = count
        if since_ns and not any(wait.start_ns == since_ns for wait in over):
            return (*over, Waited(NAME, since_ns, now_ns, over=False))
        return tuple(over)

    def stop(self) -> None:
        """Stop it. Waits for a write that hangs."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _run(directory: int, slots: "memoryview[int]", writer: Writer, idle_ns: int) -> None:
    set_process_name("wblab-probe")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.fchdir(directory)
    write = writer([str(number) for number in range(FILES)])
    count = 0
    while True:
        slots[_SINCE] = start_ns = time.monotonic_ns()
        with suppress(OSError):  # a full disk is an answer too
            write(count)
        end_ns = time.monotonic_ns()
        at = _FIRST + 2 * (count % _KEPT)
        slots[at], slots[at + 1] = start_ns, end_ns
        slots[_SINCE] = 0
        count += 1
        slots[_COUNT] = count
        time.sleep(idle_ns / NS_PER_S)


def _writer(paths: list[str]) -> Callable[[int], None]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL

    def write(number: int) -> None:
        path = paths[number % len(paths)]
        with suppress(FileNotFoundError):
            os.unlink(path)
        fd = os.open(path, flags, 0o600)
        try:
            os.write(fd, b"x")
        finally:
            os.close(fd)

    return write
