"""What held a request before it entered a disk's queue: a control group's limit, a device mapper, or a full queue.

The trace shows it: the timer of blk-throttle releases what a limit held, a device mapper remaps what it held, and a
task sleeps for a free request of a full queue. The spec then names the group, the disk and the phase.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wblab.analysis.runs.places import NEVER
from wblab.analysis.runs.run import Run
from wblab.analysis.why.flushed import NOBODY
from wblab.analysis.why.lives import pid_of
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import Numbers, device_number, device_text
from wblab.core.spec import Spec
from wblab.core.stacks import SERVED
from wblab.core.units import NS_PER_S, format_time

LIMIT, MAPPER, QUEUE = "limit", "mapper", "queue"

_FULL = "because the queue was full"
_FLUSHED = "by the cache flush that had to precede it"
_WBT = "by write-back throttling (WBT), which limits the writes in the disk's queue"
_MAY_HOLD = "by io.max, dm-delay or a lack of free requests"
_CRYPT_THREAD = "dmcrypt_write"  # drivers/md/dm-crypt.c
_CRYPT = "by dm-crypt on {}, whose work queue and thread hold writes until the queue below has room"
_RATE = "by a limit on the rate of I/O (io.max or its like, blk-throttle)"
_UNKNOWN = "for a reason that the trace does not show"
_THROTTLED_DISK = "by the limit that makes the disk slow (blk-throttle)"
_LIMIT, BY_A_PROGRAM = "io.max", ", which a program set during the run"
_BUILT = ("loop", "dm-", "md")  # the kernel's names of devices that are made of others
_AT_ONCE_NS = 1_000_000
_PASSES = 3  # a request may be delayed with the flush before it, by itself, and with the flush after it
_SPREAD_NS = 100_000_000  # the loads' starts, one of which is the run's zero, are at most so far apart
_TIMES = 2.0  # a limit of the spec that explains less than half of a delay was changed by a program
# block/blk-throttle.c: what submits I/O that a limit had held, and what wakes that
_DISPATCH, _RELEASE = "blk_throtl_dispatch_work_fn", "throtl_pending_timer_fn"
_RELEASES = ("throtl_", "blk_throtl")
_TAG_WAITS, _WBT_WAITS = ("blk_mq_get_tag",), ("rq_qos_wait", "wbt_wait")
_SUSPENDS, _RESUMES = ("__dm_suspend", "dm_suspend"), ("__dm_resume", "dm_resume")
_VALUE = re.compile(r"\b([rw](?:bps|iops))=(\d+)")


@dataclass(frozen=True)
class Hold:
    """What held a request for some time, in words.

    kind: LIMIT, MAPPER or QUEUE. party: who caused it, empty if nobody or unknown. loads: the loads that share the
    limit; empty for all. queues: the limit has a queue of its own, before the disk's. is_known: the trace or the spec
    shows it.
    """

    kind: str
    words: str
    start_ns: int
    end_ns: int
    party: str = ""
    loads: frozenset[str] = frozenset()
    queues: bool = False
    is_known: bool = True

    @property
    def time_ns(self) -> int:
        """Its duration in ns."""
        return self.end_ns - self.start_ns

    @property
    def is_limit(self) -> bool:
        """Whether it waited for a limit or a device mapper, as far as is known, rather than for the queue."""
        return self.kind in (LIMIT, MAPPER) and not self.queues


def holds_of(run: Run, recorded: Recorded, row: int, since_ns: int = NEVER) -> list[Hold]:
    """Return what held a row of `Recorded.done` before it entered its disk's queue, in the order of time.

    since_ns: when a task waited for it. On stock kernels the trace does not show when a limit began to hold it.
    """
    done = recorded.done
    if since_ns < done.first_ns[row] != NEVER and is_released(recorded, row):
        return [_limited_by(run, recorded, row, since_ns, int(done.first_ns[row]))]
    handed_ns, mapped_ns = int(done.first_ns[row]), int(done.mapped_ns[row])
    queued_ns = min(int(done.inserted_ns[row]), int(done.issued_ns[row]))
    if NEVER in (handed_ns, queued_ns) or not done.size[row]:
        return []
    found, at_ns = [], handed_ns
    if handed_ns + _AT_ONCE_NS < mapped_ns <= queued_ns:
        found.append(held := _mapper(run, recorded, row, handed_ns, mapped_ns))
        if held.end_ns < mapped_ns:  # its worker passes I/O on one by one, and waits for a place in the queue below
            found.append(Hold(QUEUE, _FULL, held.end_ns, mapped_ns))
        at_ns = mapped_ns
    if at_ns + _AT_ONCE_NS < queued_ns:
        found.append(_queue(run, recorded, row, at_ns, queued_ns))
    return found


def limited(recorded: Recorded, device: int) -> Numbers:
    """Return the rows of a device's requests that a limit released, in order."""
    return recorded.once(("limited", device), lambda: _limited(recorded, device))


def _limited(recorded: Recorded, device: int) -> Numbers:
    done = recorded.done
    rows = np.flatnonzero((done.device == device) & (done.size > 0) & (done.first_ns != NEVER))
    queued_ns = np.minimum(done.inserted_ns[rows], done.issued_ns[rows])
    released_ns = np.append(np.unique(_woken_ns(recorded, _RELEASES)), NEVER)
    last = np.searchsorted(released_ns, queued_ns, side="right") - 1
    soon = (last >= 0) & (queued_ns - released_ns[last] <= _AT_ONCE_NS)
    other = (done.queued_by[rows] != done.submitter[rows]) & (done.queued_by[rows] != NOBODY)
    held: Numbers = rows[soon & other & (queued_ns - done.first_ns[rows] > _AT_ONCE_NS)]
    return held


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


def device_name(run: Run, device: int) -> str:
    """Return the spec's name of a device; empty where it is none of its disks."""
    return next((name for name, disk in run.disks.items() if device_number(disk.device) == device), "")


def disk_of(run: Run, device: int) -> str:
    """Return a device's name for sentences."""
    if name := device_name(run, device):
        return disk_words(run, name)
    number = device_text(device)
    known = run.device_names.get(number)
    return f"the disk {known}" if known else f"the device {number}"


def disk_words(run: Run, name: str) -> str:
    """Return a disk's name for sentences: "the disk", with its name if a run has several."""
    if isinstance(run.spec, Spec):
        return words_of(run.spec, name)
    return f"the disk *{name}*" if len(run.disks) > 1 else "the disk"


def words_of(spec: Spec, name: str) -> str:
    """Return the name of one of a spec's disks for sentences: "the disk", or "the mount" of what a program serves."""
    what = "the mount" if spec.disk[name].model == SERVED else "the disk"
    return f"{what} *{name}*" if len(spec.disk) > 1 else what


def loads_of(recorded: Recorded, row: int) -> set[str]:
    """Return the loads that dirtied a request's bytes, and those that submitted them."""
    moved = recorded.moved
    first, last = np.searchsorted(moved.done_rank, [recorded.done.rank[row], recorded.done.rank[row] + 1]).tolist()
    keys = {*moved.owner[first:last].tolist(), *moved.submitter[first:last].tolist()}
    return {recorded.tasks.load_of(key) for key in keys} - {""}


def _mapper(run: Run, recorded: Recorded, row: int, start_ns: int, end_ns: int) -> Hold:
    """Return what held a request in a device mapper."""
    asked = int(recorded.done.asked[row])
    device = disk_of(run, asked)
    resumed = _rows(recorded, recorded.offcpu.wake_stack, _RESUMES)
    resumed = resumed[np.abs(recorded.offcpu.woken_ns[resumed] - end_ns) <= _AT_ONCE_NS]
    if not len(resumed):
        if is_by_crypt(recorded, row):
            return Hold(QUEUE, _CRYPT.format(device), start_ns, end_ns)
        for name in stacked(run, device_name(run, asked)):
            disk = run.spec.disk[name] if isinstance(run.spec, Spec) else None
            if disk and disk.model == "delay":
                words = f"by the disk *{name}*, which adds {format_time(disk.delay)} to each request (dm-delay)"
                return Hold(MAPPER, words, start_ns, min(end_ns, start_ns + _PASSES * disk.delay + _AT_ONCE_NS))
        if recorded.done.asks_flush[row] and _follows_flush(recorded, row, end_ns):
            return Hold(QUEUE, _FLUSHED, start_ns, end_ns)  # drivers/md/dm.c sends the flush first, and then the data
        return Hold(MAPPER, f"by {device} (device mapper)", start_ns, end_ns)
    slept = _rows(recorded, recorded.offcpu.stack, _SUSPENDS)
    slept = slept[recorded.offcpu.ts_ns[slept] <= end_ns]
    pid, rank = (
        (int(recorded.offcpu.pid[slept[-1]]), int(recorded.offcpu.rank[slept[-1]]))
        if len(slept)
        else (int(recorded.offcpu.waker[resumed[0]]), int(recorded.offcpu.wake_rank[resumed[0]]))
    )
    who = recorded.tasks.whole(recorded.tasks.lives.key(pid, rank))
    return Hold(MAPPER, f"because {who} had suspended {device} (device mapper)", start_ns, end_ns, who)


def is_by_crypt(recorded: Recorded, row: int) -> bool:
    """Whether dm-crypt's own thread handed a request to the disk below: it held the write until that had room."""
    return recorded.name(int(recorded.done.queued_by[row])).startswith(_CRYPT_THREAD)


def stacked(run: Run, name: str) -> Iterable[str]:
    """Yield a disk and the disks that it is made of."""
    if isinstance(run.spec, Spec) and name in run.spec.disk:
        yield name
        for part in run.spec.disk[name].on:
            yield from stacked(run, part)


def _queue(run: Run, recorded: Recorded, row: int, start_ns: int, end_ns: int) -> Hold:
    """Return what held a request between its disk and the queue of that."""
    device = int(recorded.done.device[row])
    name = device_name(run, device)
    is_throttled = isinstance(run.spec, Spec) and name and run.spec.disk[name].model == "throttle"
    if row in limited(recorded, device):
        return _limited_by(run, recorded, row, start_ns, end_ns)
    for functions, words in ((_TAG_WAITS, _FULL), (_WBT_WAITS, _WBT)):
        if _slept(recorded, row, functions, start_ns, end_ns):
            return Hold(QUEUE, words, start_ns, end_ns)
    if _follows_flush(recorded, row, end_ns):
        return Hold(QUEUE, _FLUSHED, start_ns, end_ns)
    if is_throttled:
        return Hold(LIMIT, _THROTTLED_DISK, start_ns, end_ns, queues=True)
    is_live = not isinstance(run.spec, Spec)
    return Hold(*((LIMIT, _MAY_HOLD) if is_live else (QUEUE, _UNKNOWN)), start_ns, end_ns, is_known=False)


def _limited_by(run: Run, recorded: Recorded, row: int, start_ns: int, end_ns: int) -> Hold:
    """Return the limit that held a request: that of its disk, or of a control group at that time, by the spec."""
    name = device_name(run, int(recorded.done.device[row]))
    if not isinstance(run.spec, Spec):
        return Hold(LIMIT, _RATE, start_ns, end_ns)
    if name and run.spec.disk[name].model == "throttle":
        return Hold(LIMIT, _THROTTLED_DISK, start_ns, end_ns, queues=True)
    loads = loads_of(recorded, row)
    for group, (members, value, setter) in _groups(run, end_ns).items():
        if loads & members:
            by = setter if _is_enough(recorded, row, value, members, end_ns - start_ns) else BY_A_PROGRAM
            return Hold(LIMIT, f"by {_LIMIT} of the control group *{group}*{by}", start_ns, end_ns, loads=members)
    return Hold(LIMIT, f"by a limit of its control group ({_LIMIT}){BY_A_PROGRAM}", start_ns, end_ns)


def _groups(run: Run, ns: int) -> dict[str, tuple[frozenset[str], str, str]]:
    """Return each control group of the spec at some time: its loads, its limit, and the words for who set that."""
    if not isinstance(run.spec, Spec):
        return {}
    set_before = [("", run.spec.cgroup)]
    set_before += [
        (f", set by the phase *{name}*", phase.cgroup)
        for name, phase in sorted(run.spec.phase.items(), key=lambda item: item[1].at)
        if phase.at <= ns - run.zero_ns + _SPREAD_NS
    ]
    found: dict[str, tuple[frozenset[str], str, str]] = {}
    for words, groups in set_before:
        for group, limits in groups.items():
            members, value, by = found.get(group, (frozenset[str](), "", ""))
            if _LIMIT in limits.files:
                value, by = str(limits.files[_LIMIT]), words
            found[group] = (members | set(limits.loads), value, by)
    return found


def _is_enough(recorded: Recorded, row: int, value: str, loads: frozenset[str], held_ns: int) -> bool:
    """Whether a group's limit, as the spec has it, explains at least half of a delay."""
    done = recorded.done
    is_read = bool(done.is_read[row])
    limits = {key: int(number) for key, number in _VALUE.findall(value) if key.startswith("r" if is_read else "w")}
    if not limits:
        return False
    end_ns = int(min(done.inserted_ns[row], done.issued_ns[row]))
    rows = limited(recorded, int(done.device[row]))
    queued_ns = np.minimum(done.inserted_ns[rows], done.issued_ns[rows])
    rows = rows[(queued_ns > end_ns - held_ns) & (queued_ns <= end_ns) & (done.is_read[rows] == done.is_read[row])]
    own = [each for each in rows.tolist() if loads_of(recorded, each) & loads]
    size, count = int(done.size[own].sum()), len(own)
    needed_ns = max(
        NS_PER_S * (size if key.endswith("bps") else count) // max(1, number) for key, number in limits.items()
    )
    return _TIMES * needed_ns + 2 * _SPREAD_NS > held_ns


def _woken_ns(recorded: Recorded, prefixes: tuple[str, ...]) -> Numbers:
    """Return when tasks were woken in a function whose name begins so, in ns."""
    return recorded.offcpu.woken_ns[_rows(recorded, recorded.offcpu.wake_stack, prefixes)]


def _rows(recorded: Recorded, column: Numbers, prefixes: tuple[str, ...]) -> Numbers:
    """Return the spans of `offcpu` with a stack in which a function's name begins so, in the order of time."""
    known = recorded.stacks.known
    chosen = [at for at, stack in enumerate(known) if any(name.startswith(prefixes) for name in stack)]
    rows = np.flatnonzero(np.isin(column, chosen)) if chosen else np.zeros(0, np.int64)
    return rows[np.argsort(recorded.offcpu.ts_ns[rows], kind="stable")]


def _slept(recorded: Recorded, row: int, functions: tuple[str, ...], start_ns: int, end_ns: int) -> bool:
    """Whether the task that submitted a request slept in one of some functions in a span of time."""
    pid = pid_of(int(recorded.done.submitter[row]))
    return any(
        not set(functions).isdisjoint(recorded.sleep_stack(each))
        for each in recorded.offcpu.rows(pid, start_ns, end_ns)
    )


def _follows_flush(recorded: Recorded, row: int, passed_ns: int) -> bool:
    """Whether a request passed on, to its queue or its disk, within 1 ms after that disk completed a flush."""
    done = recorded.done
    flushes = done.ts_ns[(done.device == done.device[row]) & (done.size == 0)]
    return bool(np.any((flushes <= passed_ns) & (flushes > passed_ns - _AT_ONCE_NS)))
