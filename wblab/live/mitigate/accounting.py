"""Bytes written by each process in each period, from taskstats or else from /proc/PID/io."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil

from wblab.live.mitigate.accountedtasks import Processes
from wblab.live.mitigate.taskstats import Task, Taskstats

# Detect a disk's own write cache from the time that flushes take; no setting of the kernel reaches into that cache.
#
# `write_cache` only says that a disk needs flushes: the cache may hold almost nothing, or seconds of work. A flush ends
# when everything in the disk is on the medium. Before that it waits for the queue at most. So if flushes take much
# longer
# than a full queue can, the rest of the time goes to the disk's cache.

_BLOCKS = Path("/sys/block")
_TIMES = 2  # multiple of the queue's own time: rates vary, and requests are served slightly out of order
_LEAST_S = 0.5


def queue_bytes(disk: str, blocks: Path = _BLOCKS) -> int:
    """Return the most that a disk's queue holds: all its requests, of the largest size. Raises OSError.

    blocks: the machine's /sys/block.
    """
    queue = blocks / disk / "queue"
    requests, size_kb = (int((queue / name).read_text()) for name in ("nr_requests", "max_sectors_kb"))
    return requests * size_kb * 1024


def queue_s(disk: str, bandwidth: float, blocks: Path = _BLOCKS) -> float:
    """Return how long a disk of `bandwidth` bytes/s needs for a full queue, in s. Raises OSError."""
    return queue_bytes(disk, blocks) / bandwidth


def holds_much(disk: str, flush_s: float, bandwidth: float, blocks: Path = _BLOCKS) -> bool:
    """Whether a disk whose flushes take `flush_s` seconds has a write cache much larger than its queue."""
    try:
        volatile = (blocks / disk / "queue/write_cache").read_text().strip() == "write back"
        return volatile and flush_s > max(_LEAST_S, _TIMES * queue_s(disk, bandwidth, blocks))
    except OSError:  # it has no queue, or was just unplugged
        return False


@dataclass
class Usage:
    """One period: bytes written by each process that wrote, without those whose writeback was cancelled.

    ended: the processes that ended in the period, each with its parent at that time.
    """

    written: dict[int, int] = field(default_factory=dict)
    ended: dict[int, int] = field(default_factory=dict)


class Accounting(Protocol):
    """A source of written bytes. Call `sample` once a period, and `note_exits` as often as you like."""

    @property
    def lost(self) -> int:
        """How often exits were lost."""

    def note_exits(self) -> None:
        """Read which tasks have exited, before the socket is full."""

    def sample(self, processes: Processes) -> tuple[Usage, list[int]]:
        """Return the bytes written since the last call, and the new processes. Refreshes `processes`."""


class TaskstatsAccounting:
    """By task, so processes that begin and end between two samples count too."""

    def __init__(self, taskstats: Taskstats) -> None:
        self._taskstats = taskstats
        self._seen: dict[int, tuple[int, int, int]] = {}  # by thread: process, written, cancelled
        self._exited: list[Task] = []
        self._first = True

    @property
    def lost(self) -> int:
        """See Accounting."""
        return self._taskstats.lost

    def note_exits(self) -> None:
        """See Accounting."""
        self._exited += self._taskstats.exited()

    def sample(self, processes: Processes) -> tuple[Usage, list[int]]:
        """See Accounting. Bytes written before the first call do not count."""
        before = dict(processes.parents)
        new = processes.refresh()
        owners = {tid: pid for pid in processes.parents for tid in processes.tasks(pid)}
        usage = Usage()
        for task in self._taskstats.live(owners):
            pid = owners[task.tid]
            self._count(task, pid, usage.written)
            if task.tid == pid:
                processes.parents[pid] = task.parent
                processes.names[pid] = task.name
        self.note_exits()  # after the live tasks: one that was missing there has reported its last bytes by now
        ended = {}
        for task in self._exited:
            self._count(task, self._seen.get(task.tid, (task.tgid or task.tid,))[0], usage.written)
            if task.tid == task.tgid:
                ended[task.tid] = task.parent
        self._exited.clear()
        self._seen = {tid: seen for tid, seen in self._seen.items() if tid in owners}
        usage.ended = _gone(before | ended, processes.parents)
        if self._first:
            self._first = False
            return Usage(), []
        return usage, new

    def _count(self, task: Task, process: int, written: dict[int, int]) -> None:
        """Add to a process what one of its tasks has written since the last sample."""
        owner, before, taken_back = self._seen.get(task.tid, (process, 0, 0))
        if owner != process or task.written_bytes < before:  # another task has reused the number
            before, taken_back = 0, 0
        self._seen[task.tid] = process, task.written_bytes, task.cancelled_bytes
        net = task.written_bytes - before - (task.cancelled_bytes - taken_back)
        if net > 0:
            written[process] = written.get(process, 0) + net


class ProcAccounting:
    """By process, from /proc/PID/io through psutil, which does not show cancelled bytes.

    A process's figure includes its ended threads, and the ended children that it waited for (wait_task_zombie in
    kernel/exit.c). Bytes already counted for an ended child are subtracted there. Other ended processes are lost.
    """

    lost = 0  # exits are never reported here

    def __init__(self) -> None:
        self._open: dict[int, psutil.Process] = {}
        self._seen: dict[int, int] = {}
        self._first = True

    def note_exits(self) -> None:
        """See Accounting: nothing to do."""

    def sample(self, processes: Processes) -> tuple[Usage, list[int]]:
        """See Accounting."""
        before = dict(processes.parents)
        new = processes.refresh()
        usage = Usage(ended=_gone(before, processes.parents))
        for pid, parent in usage.ended.items():
            self._open.pop(pid, None)
            self._seen[parent] = self._seen.get(parent, 0) + self._seen.pop(pid, 0)
        for pid in processes.parents:
            with suppress(psutil.Error, OSError):  # gone, or not readable for us
                if pid not in self._open:
                    self._open[pid] = psutil.Process(pid)
                total = self._open[pid].io_counters().write_bytes
                if total > self._seen.get(pid, 0):
                    usage.written[pid] = total - self._seen.get(pid, 0)
                    processes.parents[pid] = self._open[pid].ppid()
                self._seen[pid] = total
        if self._first:
            self._first = False
            return Usage(), []
        return usage, new


def _gone(before: Mapping[int, int], now: Mapping[int, int]) -> dict[int, int]:
    return {pid: parent for pid, parent in before.items() if pid not in now}
