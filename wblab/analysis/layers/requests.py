"""Each write and fsync of a load, broken down by layer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from tracecmd import TraceError

from wblab.analysis.layers.calls import Call, Name, calls, check_calls
from wblab.analysis.layers.charge import Charge, Path, Piece
from wblab.analysis.layers.functions import asleep_in, inclusive, once, summed
from wblab.analysis.layers.pairs import Entered, read_entered
from wblab.analysis.layers.phases import read_phases
from wblab.analysis.layers.stages import DEVICE, FLUSH, read_disks
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.why.recorded import read_recorded
from wblab.analysis.why.requests import device_number
from wblab.core.errors import InputError
from wblab.core.loads.durable import Commit, SyncWrite
from wblab.core.spec import Spec

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
    trace, sequence = recorded.trace, recorded.sequence
    charge = Charge(
        recorded,
        read_disks(trace, sequence, recorded.done, _depths(run)),
        read_phases(trace, sequence),
    )
    entered = read_entered(trace, sequence)
    check_calls(run, trace)
    return [_layered(run, charge, entered, item, call) for item in chosen for call in calls(trace, sequence, item)]


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


def _layered(run: Run, charge: Charge, entered: Mapping[str, Entered], item: LoadCycles, call: Call) -> LayeredCall:
    sleeps = asleep_in(charge.recorded, item.pid, call.start_ns, call.end_ns)
    functions = inclusive(sleeps)
    return LayeredCall(
        load=item.name,
        number=call.number,
        call=call.name,
        start_ns=call.start_ns - run.zero_ns,
        duration_ns=call.end_ns - call.start_ns,
        pieces=tuple(_joined(charge.of_task(item.pid, call.start_ns, call.end_ns), run.zero_ns)),
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
