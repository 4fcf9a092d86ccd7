"""What the gauge exports: each metric's name, kind, labels, source and meaning, as data.

Names follow https://prometheus.io/docs/practices/naming/. Times are counted in ns and exported in seconds.
"""

from dataclasses import dataclass
from typing import Literal

from wblab.core.units import NS_PER_S

Source = Literal["memory", "pressure", "disks", "tasks", "stacks", "tracepoints", "gauge"]
# Where each source is read, and what it needs.
SOURCES: dict[Source, str] = {
    "memory": "/proc/vmstat",
    "pressure": "/proc/pressure/io (Linux 4.20, CONFIG_PSI)",
    "disks": "/proc/diskstats, /sys/block",
    "tasks": "/proc/PID/stat, /proc/PID/status",
    "stacks": "/proc/PID/stack (root)",
    "tracepoints": "tracefs (root)",
    "gauge": "the gauge itself",
}


@dataclass(frozen=True)
class Metric:
    """A metric. divisor: what counts are divided by when they are exported."""

    name: str
    kind: Literal["counter", "gauge"]
    labels: tuple[str, ...]
    source: Source
    about: str
    divisor: int = 1


def _counted(name: str, labels: tuple[str, ...], source: Source, about: str, divisor: int = 1) -> Metric:
    return Metric(f"wblab_{name}_total", "counter", labels, source, about, divisor)


def _shown(name: str, labels: tuple[str, ...], source: Source, about: str, divisor: int = 1) -> Metric:
    return Metric(f"wblab_{name}", "gauge", labels, source, about, divisor)


DIRTY = _shown("dirty_bytes", (), "memory", "Memory that waits to be written (mm/vmstat.c, nr_dirty).")
WRITEBACK = _shown("writeback_bytes", (), "memory", "Memory that disks are writing (mm/vmstat.c, nr_writeback).")
THRESHOLD = _shown(
    "dirty_threshold_bytes", (), "memory", "Where every writer is slowed (mm/page-writeback.c, nr_dirty_threshold)."
)
BACKGROUND = _shown(
    "dirty_background_threshold_bytes",
    (),
    "memory",
    "Where flushers begin to write (mm/page-writeback.c, nr_dirty_background_threshold).",
)
SOME = _counted(
    "pressure_io_some_seconds", (), "pressure", "Time in which a task waited for I/O (kernel/sched/psi.c).", NS_PER_S
)
FULL = _counted(
    "pressure_io_full_seconds",
    (),
    "pressure",
    "Time in which all tasks with work waited for I/O (kernel/sched/psi.c).",
    NS_PER_S,
)
THROTTLED = _counted(
    "dirty_throttled_seconds",
    ("disk",),
    "tracepoints",
    "Time that tasks were made to sleep in balance_dirty_pages(), summed over tasks (mm/page-writeback.c).",
    NS_PER_S,
)
GROUP_THROTTLED = _counted(
    "cgroup_dirty_throttled_seconds",
    ("cgroup",),
    "tracepoints",
    "The same by the control group whose writeback it was; / where groups have none (mm/page-writeback.c).",
    NS_PER_S,
)
LONG_CALLS = _counted(
    "dirty_throttled_long_calls",
    ("disk",),
    "tracepoints",
    "Calls of balance_dirty_pages() in which a task has slept 1 s or longer (mm/page-writeback.c).",
)
FLUSHER_IDLE = _counted(
    "flusher_idle_wakeups",
    ("disk",),
    "tracepoints",
    "A flusher was woken and wrote nothing while tasks slept for its disk and that was idle (fs/fs-writeback.c).",
)
LOST = _counted("trace_lost_events", (), "tracepoints", "Events that the gauge missed (kernel/trace/ring_buffer.c).")
BLOCKED = _shown(
    "tasks_blocked", ("of", "kind"), "tasks", "Tasks that sleep uninterruptibly now, state D (fs/proc/array.c)."
)
BLOCKED_TIME = _counted(
    "tasks_blocked_seconds",
    ("of", "kind"),
    "tasks",
    "Time in single uninterruptible sleeps that lasted from one look to the next, summed (fs/proc/array.c).",
    NS_PER_S,
)
LONGEST = _shown(
    "tasks_blocked_longest_seconds",
    ("of",),
    "tasks",
    "How long the longest of these sleeps has lasted so far, at least (fs/proc/array.c).",
    NS_PER_S,
)
LOOK_APART = _shown(
    "tasks_look_interval_seconds", (), "tasks", "Time between the last two looks at all tasks.", NS_PER_S
)
IN_FLIGHT = _shown("disk_requests_in_flight", ("disk",), "disks", "Requests that a disk works on (block/genhd.c).")
READS = _counted("disk_reads_completed", ("disk",), "disks", "Reads that a disk completed (block/genhd.c).")
WRITES = _counted("disk_writes_completed", ("disk",), "disks", "Writes that a disk completed (block/genhd.c).")
READ = _counted("disk_read_bytes", ("disk",), "disks", "Bytes that a disk read (block/genhd.c).")
WRITTEN = _counted("disk_written_bytes", ("disk",), "disks", "Bytes that a disk wrote (block/genhd.c).")
BUSY = _counted(
    "disk_busy_seconds", ("disk",), "disks", "Time in which a disk had a request (block/blk-core.c, io_ticks).", 1000
)
QUEUED = _counted("disk_request_seconds", ("disk",), "disks", "Time of all its requests, summed (block/genhd.c).", 1000)
QUEUE_REQUESTS = _shown(
    "disk_queue_requests_limit", ("disk",), "disks", "Requests that its queue holds (block/blk-sysfs.c, nr_requests)."
)
QUEUE_BYTES = _shown(
    "disk_request_limit_bytes", ("disk",), "disks", "Its largest request (block/blk-sysfs.c, max_sectors_kb)."
)
AVAILABLE = _shown("source_available", ("source",), "gauge", "Whether a source can be read here; without, no series.")
PROCESSOR = _counted("monitor_cpu_seconds", (), "gauge", "Processor time that the gauge itself took.", NS_PER_S)

METRICS = (
    *(DIRTY, WRITEBACK, THRESHOLD, BACKGROUND),
    *(THROTTLED, GROUP_THROTTLED, LONG_CALLS, FLUSHER_IDLE, LOST),
    *(BLOCKED, BLOCKED_TIME, LONGEST, LOOK_APART),
    *(IN_FLIGHT, READS, WRITES, READ, WRITTEN, BUSY, QUEUED, QUEUE_REQUESTS, QUEUE_BYTES),
    *(SOME, FULL),
    *(AVAILABLE, PROCESSOR),
)
