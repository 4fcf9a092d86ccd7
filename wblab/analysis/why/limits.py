"""What delays a request before it enters a disk's queue: a control group's limit, dm-delay or a full queue."""

from dataclasses import dataclass

import numpy as np

from wblab.analysis.runs.run import Run
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import device_number, device_text
from wblab.core.spec import Spec
from wblab.core.units import format_time

_FULL = "because the queue was full"
_FLUSHED = "by the cache flush that had to precede it"
_MAY_HOLD = "by io.max, dm-delay or a lack of free requests"
_RATE = "by a limit on the rate of I/O (io.max or its like, blk-throttle)"
_LIMIT = "io.max"
# block/blk-throttle.c: what submits I/O that a limit had held, and what wakes that
_DISPATCH, _RELEASE = "blk_throtl_dispatch_work_fn", "throtl_pending_timer_fn"
_NEARLY = 0.9
_AT_ONCE_NS = 1_000_000
_BUILT = ("loop", "dm-", "md")  # the kernel's names of devices that are made of others


@dataclass(frozen=True)
class Hold:
    """What delayed a request, in words.

    delays: by a fixed time, whatever the queue held. loads: the loads that share the limit; empty for all. queues: the
    limit has a queue of its own, before the disk's.
    """

    words: str
    delays: bool = False
    loads: frozenset[str] = frozenset()
    queues: bool = False

    @property
    def is_limit(self) -> bool:
        """Whether it waited for a limit or a delay, as far as is known, rather than for the queue."""
        return self.delays or bool(self.loads) or self.words in (_MAY_HOLD, _RATE)


def hold_of(run: Run, recorded: Recorded, row: int, held_ns: int) -> Hold:
    """Return what delayed a row of `Recorded.done` by held_ns, according to the spec's limits."""
    if not isinstance(run.spec, Spec):
        return Hold(_RATE if is_released(recorded, row) else _MAY_HOLD)
    spec, name = run.spec, device_name(run, int(recorded.done.device[row]))
    for above, disk in spec.disk.items():
        if disk.model == "delay" and disk.on == (name,) and held_ns > _NEARLY * disk.delay:
            words = f"by the disk *{above}*, which adds {format_time(disk.delay)} to each request (dm-delay)"
            return Hold(words, delays=True)
    loads = _loads(recorded, row)
    for group, limits in spec.cgroup.items():
        if _LIMIT in limits.files and loads & set(limits.loads):
            return Hold(f"by {_LIMIT} of the control group *{group}*", loads=frozenset(limits.loads))
    if name and spec.disk[name].model == "throttle":
        return Hold("by the limit that makes the disk slow (blk-throttle)", queues=True)
    return Hold(_FLUSHED if _follows_flush(recorded, row) else _FULL)


def is_released(recorded: Recorded, row: int) -> bool:
    """Whether a rate limit had held the request of a row of `Recorded.done`: the limit's own worker submitted it.

    On stock kernels the submission that is traced is that one. Its stack tells, if the trace has it, or else what had
    woken the worker.
    """
    done, spans = recorded.done, recorded.offcpu
    if stack := recorded.stack_at(int(done.first_rank[row])):
        return _DISPATCH in stack
    pid, at_ns = int(done.submitter[row]), int(done.first_ns[row])
    before = spans.rows(pid, 0, at_ns)
    return bool(before) and pid > 0 and _RELEASE in recorded.wake_stack(before[-1])


def is_hardware(run: Run, device: int) -> bool:
    """Whether a device is hardware as far as is known, not one that the kernel builds from others."""
    if run.device_names.get(device_text(device), "").startswith(_BUILT):
        return False
    name = device_name(run, device)
    return not isinstance(run.spec, Spec) or not name or run.spec.disk[name].is_hardware


def below(run: Run, device: int) -> int:
    """Return the device that holds a loop device's file; any other device is returned as it is."""
    name = device_name(run, device)
    if isinstance(run.spec, Spec) and name and run.spec.disk[name].model == "loop":
        return device_number(run.disks[run.spec.disk[name].on[0]].device)
    return device


def _follows_flush(recorded: Recorded, row: int) -> bool:
    """Whether a request entered the queue within 1 ms after its disk completed a flush."""
    done = recorded.done
    queued_ns = min(int(column[row]) for column in (done.inserted_ns, done.issued_ns))
    flushes = done.ts_ns[(done.device == done.device[row]) & (done.size == 0)]
    return bool(np.any((flushes <= queued_ns) & (flushes > queued_ns - _AT_ONCE_NS)))


def device_name(run: Run, device: int) -> str:
    """Return the spec's name of a device; empty where it is none of its disks."""
    return next((name for name, disk in run.disks.items() if device_number(disk.device) == device), "")


def _loads(recorded: Recorded, row: int) -> set[str]:
    """Return the loads that dirtied a request's bytes, and those that submitted them."""
    moved = recorded.moved
    first, last = np.searchsorted(moved.done_rank, [recorded.done.rank[row], recorded.done.rank[row] + 1]).tolist()
    pids = {*moved.owner[first:last].tolist(), *moved.submitter[first:last].tolist()}
    return {recorded.tasks.load_of(pid) for pid in pids} - {""}
