"""Who the kernel makes sleep near a dirty limit, and flushers that wake and write nothing, counted from events."""

from collections.abc import Callable

from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.live.gauge.catalogue import FLUSHER_IDLE, GROUP_THROTTLED, LONG_CALLS, LOST, THROTTLED, Metric
from wblab.live.gauge.counts import Counts
from wblab.live.monitor.tracetext import LostEvents, TraceLine

EVENTS = {
    "writeback:balance_dirty_pages": "pause > 0",  # the task sleeps
    "writeback:writeback_wake_background": "",
    "writeback:writeback_start": "",
    "writeback:writeback_pages_written": "",
}
LONG_NS = NS_PER_S
ROOT_GROUP = 1  # where groups have no writeback of their own, all events name the root of cgroupfs

_LATE_NS = 100 * NS_PER_MS  # after its sleep a task checks again, and may wake the flusher before it sleeps on
_MOST_TASKS = 10_000  # that are remembered
_MOST_NAMES = 200  # values of a label; a machine may start any number of containers

_Flusher = tuple[str, int]  # bdi, and the control group whose writeback it is


class Throttling:
    """Counts the events of one machine, in the order of their times."""

    def __init__(self, counts: Counts, disk_of: Callable[[str], str], group_of: Callable[[int], str]) -> None:
        """disk_of: a disk's name from that of its bdi, such as 8:0. group_of: a control group's path, by its inode."""
        self._counts, self._disk_of, self._group_of = counts, disk_of, group_of
        self._asleep_ns: dict[_Flusher, int] = {}  # until when a task that writes there means to sleep
        self._wrote_none: dict[str, int] = {}  # flushers that wrote nothing since the last `settle`, by disk
        self._in_call_ns: dict[int, int] = {}  # how long each task will have been in its call, the latest last
        self._woken: dict[_Flusher, None] = {}  # flushers that were woken and have not begun to write, oldest first
        counts.begin(LOST)
        counts.begin(GROUP_THROTTLED, "/")

    def begin(self, disk: str) -> None:
        """Export zeros of a disk."""
        for metric in (THROTTLED, LONG_CALLS, FLUSHER_IDLE):
            self._counts.begin(metric, disk)

    def count(self, item: TraceLine | LostEvents) -> None:
        """Count an event."""
        if isinstance(item, LostEvents):
            self._counts.add(LOST, item.count)
        elif item.event == "balance_dirty_pages":
            self._throttled(item)
        elif item.event == "writeback_wake_background":
            self._woken[_flusher(item)] = None
        elif item.event == "writeback_start":
            self._woken.pop(_flusher(item), None)
        elif item.event == "writeback_pages_written" and item.text.strip() == b"0":
            self._wrote_nothing(item.at_ns)

    def settle(self, is_idle: Callable[[str], bool]) -> None:
        """Count the flushers that wrote nothing since the last time, of disks that were idle meanwhile.

        A disk that works has most of its pages under writeback, and its flusher rightly has nothing to add.
        """
        for disk, times in self._wrote_none.items():
            self._counts.add(FLUSHER_IDLE, times if is_idle(disk) else 0, disk)
        self._wrote_none.clear()

    def _throttled(self, line: TraceLine) -> None:
        """Count a sleep that begins, and by how much the one before it in the same call was longer than meant.

        `paused` is how long the task has been in this call, in ms. A tick more a sleep is the rule.
        """
        values = line.values
        pause_ns, paused_ns = (values.get(key, 0) * NS_PER_MS for key in (b"pause", b"paused"))
        if pause_ns <= 0:
            return
        before_ns = self._in_call_ns.pop(line.pid, 0)  # until when, in the call that it was in the last time
        if paused_ns <= 0 or before_ns > paused_ns + _LATE_NS:
            before_ns = paused_ns  # another call
        until_ns = max(before_ns, paused_ns + pause_ns)
        disk, flusher = self._named(THROTTLED, self._disk_of(line.bdi)), _flusher(line)
        group = self._named(GROUP_THROTTLED, "/" if flusher[1] == ROOT_GROUP else self._group_of(flusher[1]))
        self.begin(disk)
        self._counts.add(THROTTLED, until_ns - before_ns, disk)
        self._counts.add(GROUP_THROTTLED, until_ns - before_ns, group)
        self._counts.add(LONG_CALLS, int(before_ns < LONG_NS <= until_ns), disk)
        self._asleep_ns[flusher] = max(self._asleep_ns.get(flusher, 0), line.at_ns + pause_ns)
        self._in_call_ns[line.pid] = until_ns
        if len(self._in_call_ns) > _MOST_TASKS:
            del self._in_call_ns[next(iter(self._in_call_ns))]

    def _wrote_nothing(self, at_ns: int) -> None:
        """Count a flusher that ended without a page. The event does not say which: of those woken, the first."""
        asleep = [item for item in self._woken if self._asleep_ns.get(item, 0) + _LATE_NS >= at_ns]
        if asleep:
            del self._woken[asleep[0]]
            disk = self._named(FLUSHER_IDLE, self._disk_of(asleep[0][0]))
            self._wrote_none[disk] = self._wrote_none.get(disk, 0) + 1

    def _named(self, metric: Metric, name: str) -> str:
        """Return a label's value, or "others" when there are too many."""
        known = self._counts.labels(metric)
        return name if (name,) in known or len(known) < _MOST_NAMES else "others"


def _flusher(line: TraceLine) -> _Flusher:
    return line.bdi, line.values.get(b"cgroup_ino", ROOT_GROUP)
