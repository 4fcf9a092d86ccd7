"""Each write and fsync of a load, broken down by layer, also by the kernel functions whose begin and end are traced."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError
from tracecmd.sequence import Sequence

from wblab.analysis.layers.calls import Charged, Name, Path, Piece, TracedCall, calls, check_calls, read_phases
from wblab.analysis.layers.stages import DEVICE, FLUSH, asleep_in, inclusive, once, read_disks, summed
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.why.recorded import Recorded, read_recorded
from wblab.analysis.why.requests import device_number
from wblab.core.errors import InputError
from wblab.core.loads.durable import Commit, SyncWrite
from wblab.core.spec import Spec

# ext4's (include/trace/events/ext4.h). ext4_da_write_end is traced when that function begins: the span covers
# ext4_da_write_begin() and the copy of the data.
PAIRS = {
    "ext4_sync_file": ("ext4_sync_file_enter", "ext4_sync_file_exit"),
    "ext4_da_write_begin": ("ext4_da_write_begin", "ext4_da_write_end"),
    "ext4_writepages": ("ext4_writepages", "ext4_writepages_result"),
}


@dataclass(frozen=True)
class Entered:
    """Spans of one function, by task and in the order of time, in ns."""

    pid: NDArray[np.int64]
    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]

    def of(self, pid: int, start_ns: int, end_ns: int) -> int:
        """Return how long a task was in the function, in ns, within a span of time that cuts none of its calls."""
        own = (self.pid == pid) & (self.start_ns >= start_ns) & (self.end_ns <= end_ns)
        return int((self.end_ns - self.start_ns)[own].sum())


Key = TypeVar("Key")


@dataclass(frozen=True)
class LayeredCall:
    """One system call of a load; times are ns, and moments count from the run's start.

    number: the load's cycle, from 0. pieces: its time in consecutive pieces without gaps, each with the kinds of wait
    down to the final state. functions: how long each kernel function of the caller, or what it called, slept. entered:
    the time in functions whose begin and end are traced. prefixes: the sums of `functions` by Stephens's prefixes.
    once: the same with nothing counted again within a prefix.
    """

    load: str
    number: int
    call: Name
    start_ns: int
    duration_ns: int
    pieces: tuple[Piece, ...]
    functions: Mapping[str, int]
    entered: Mapping[str, int]
    prefixes: Mapping[str, int]
    once: Mapping[str, int]

    @cached_property
    def parts(self) -> dict[Path, int]:
        """The time by path, which sums to `duration_ns`; the longest first."""
        return _summed((path, end_ns - start_ns) for path, start_ns, end_ns in self.pieces)

    @property
    def states(self) -> dict[str, int]:
        """The time by final state: disjoint states that sum to `duration_ns`, the longest first."""
        return _summed((path[-1], time_ns) for path, time_ns in self.parts.items())

    @property
    def causes(self) -> dict[str, int]:
        """The time by what the caller itself did or waited for: also disjoint, with the same sum; the longest first."""
        return _summed((path[0], time_ns) for path, time_ns in self.parts.items())

    @property
    def served(self) -> int:
        """The number of requests and flushes that it waited for while the device served them, one after the other."""
        return sum(path[-1] in (DEVICE, FLUSH) for path, _, _ in self.pieces)


def instruction_ns(run: Run) -> int:
    """Return how long an instruction took in an emulator whose time is that of instructions; 0 for any other run."""
    found = (run.record.get("machine") or {}).get("instruction_ns")
    return found if type(found) is int and found > 0 else 0


def layers(run: Run, load: str = "") -> list[LayeredCall]:
    """Return the calls of one load, or of all synchronous loads, load by load, in the order of time.

    Raises InputError for a run without the needed events, with a damaged trace, or without such a load.
    """
    chosen = [run.load(load)] if load else [item for item in run.loads if _waits(item)]
    for item in chosen:
        if not _waits(item):
            raise InputError(f"{load!r} is a load of kind {item.load.kind}: only syncwrite and commit have layers")
    if not chosen:
        raise InputError(f"no load of {run.path} is of kind syncwrite or commit: make a run with 'wblab run layers'")
    try:
        return _taken_apart(run, chosen)
    except TraceError as error:
        raise InputError(str(error)) from None


def _taken_apart(run: Run, chosen: Iterable[LoadCycles]) -> list[LayeredCall]:
    recorded = read_recorded(run)
    return taken_apart(recorded, _called(run, recorded, chosen), run.zero_ns, _depths(run))


def _called(run: Run, recorded: Recorded, chosen: Iterable[LoadCycles]) -> Iterator["CalledTask"]:
    """Yield the loads with their calls. Raises InputError for a trace without system calls."""
    check_calls(run, recorded.trace)
    for item in chosen:
        yield CalledTask(item.name, item.pid, calls(recorded.trace, recorded.sequence, item))


@dataclass(frozen=True)
class CalledTask:
    """A task with its calls, in the order of time."""

    name: str
    pid: int
    calls: Iterable[TracedCall]


def taken_apart(
    recorded: Recorded, tasks: Iterable[CalledTask], zero_ns: int, depths: Mapping[int, int]
) -> list[LayeredCall]:
    """Return the calls of tasks by layer. zero_ns: from when moments count. depths: as of `read_disks`."""
    trace, sequence = recorded.trace, recorded.sequence
    charge = Charged(recorded, read_disks(trace, sequence, recorded.done, depths), read_phases(trace, sequence))
    entered = read_entered(trace, sequence)
    return [_layered(charge, entered, task, call, zero_ns) for task in tasks for call in task.calls]


def _depths(run: Run) -> dict[int, int]:
    """Return how many requests each disk of a guest serves at once, by device number."""
    disks = run.spec.disk if isinstance(run.spec, Spec) else {}
    return {
        device_number(run.disks[name].device): disk.depth
        for name, disk in disks.items()
        if disk.is_hardware and name in run.disks
    }


def _waits(item: LoadCycles) -> bool:
    return isinstance(item.load, SyncWrite | Commit)


def _layered(
    charge: Charged, entered: Mapping[str, Entered], item: CalledTask, call: TracedCall, zero_ns: int
) -> LayeredCall:
    sleeps = asleep_in(charge.recorded, item.pid, call.start_ns, call.end_ns)
    functions = inclusive(sleeps)
    return LayeredCall(
        load=item.name,
        number=call.number,
        call=call.name,
        start_ns=call.start_ns - zero_ns,
        duration_ns=call.end_ns - call.start_ns,
        pieces=tuple(_joined(charge.of_task(item.pid, call.start_ns, call.end_ns), zero_ns)),
        functions=functions,
        entered={name: each.of(item.pid, call.start_ns, call.end_ns) for name, each in entered.items()},
        prefixes=summed(functions),
        once=once(sleeps),
    )


def _joined(found: Iterable[Piece], zero_ns: int) -> Iterator[Piece]:
    """Yield the pieces that are not empty; neighbours with the same path are merged."""
    filled = (piece for piece in found if piece[2] > piece[1])
    for path, group in groupby(filled, key=itemgetter(0)):
        pieces = list(group)
        yield path, pieces[0][1] - zero_ns, pieces[-1][2] - zero_ns


def _summed(times: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    found: Counter[Key] = Counter()
    for key, time_ns in times:
        found[key] += time_ns
    return dict(found.most_common())


def read_entered(trace: tracecmd.TraceFile, sequence: Sequence) -> dict[str, Entered]:
    """Read the spans of the functions of PAIRS whose events a trace has."""
    return {name: _spans(trace, sequence, *events) for name, events in PAIRS.items() if set(events) <= set(trace.names)}


def _spans(trace: tracecmd.TraceFile, sequence: Sequence, enter: str, leave: str) -> Entered:
    """Return the spans from an enter to the same task's next event, if that is a leave."""
    both = [trace.events(name) for name in (enter, leave)]
    pid, ts_ns = (np.concatenate(columns) for columns in zip(*((each.pid, each.ts_ns) for each in both), strict=True))
    rank = np.concatenate([sequence.ranks(each) for each in both])
    leaves = np.repeat([False, True], [len(each) for each in both])
    order = np.lexsort((rank, pid))
    pid, ts_ns, leaves = pid[order].astype(np.int64), ts_ns[order], leaves[order]
    at = np.flatnonzero((pid[:-1] == pid[1:]) & ~leaves[:-1] & leaves[1:])
    return Entered(pid[at], ts_ns[at], ts_ns[at + 1])
