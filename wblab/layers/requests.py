"""Each write and each fsync of a load, taken apart."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from wblab.core.errors import InputError
from wblab.core.loads.durable import Commit, SyncWrite
from wblab.data.run import LoadCycles, Run
from wblab.layers.calls import Call, Name, calls
from wblab.layers.charge import Charge, Path, Piece
from wblab.layers.functions import asleep_in, inclusive, once, summed
from wblab.layers.pairs import Entered, read_entered
from wblab.layers.phases import read_phases
from wblab.layers.stages import DEVICE, FLUSH, read_disks
from wblab.why.recorded import read_recorded


@dataclass(frozen=True)
class LayeredCall:
    """One system call of a load; times are ns.

    number: of the load's cycle, from 0. start_ns: from the run's zero. parts: time by what was waited for, kind by
    kind, down to a state; they sum to `duration_ns`. served: how many requests and flushes it waited for while the
    device was at them, one after the other. functions: how long each kernel function of the caller, or what it called,
    slept; entered: how long it was in those whose begin and end are events. prefixes: the sums of `functions` by
    Stephens's prefixes; once: with nothing counted again within a prefix.
    """

    load: str
    number: int
    call: Name
    start_ns: int
    duration_ns: int
    parts: Mapping[Path, int]
    served: int
    functions: Mapping[str, int]
    entered: Mapping[str, int]
    prefixes: Mapping[str, int]
    once: Mapping[str, int]

    @property
    def states(self) -> dict[str, int]:
        """Where the time passed at last: disjoint states that sum to `duration_ns`, the longest first."""
        return _by(self.parts, -1)

    @property
    def causes(self) -> dict[str, int]:
        """What the caller itself did or waited for: disjoint too, and of the same sum; the longest first."""
        return _by(self.parts, 0)


def layers(run: Run, load: str = "") -> list[LayeredCall]:
    """Return the calls of one load, or of all that write and wait, load by load, in the order of time.

    Raises InputError for a run that did not record what is needed, or has no such load.
    """
    chosen = [run.load(load)] if load else [item for item in run.loads if _waits(item)]
    for item in chosen:
        if not _waits(item):
            raise InputError(f"{load!r} is a load of the kind {item.load.kind}: only syncwrite and commit have layers")
    if not chosen:
        raise InputError(f"no load of {run.path} is a syncwrite or commit: make a run with 'wblab run layers'")
    recorded = read_recorded(run)
    trace, sequence = recorded.trace, recorded.sequence
    charge = Charge(recorded, read_disks(trace, sequence, recorded.done), read_phases(trace, sequence))
    entered = read_entered(trace, sequence)
    return [_layered(run, charge, entered, item, call) for item in chosen for call in calls(trace, sequence, item)]


def _waits(item: LoadCycles) -> bool:
    return isinstance(item.load, SyncWrite | Commit)


def _layered(run: Run, charge: Charge, entered: Mapping[str, Entered], item: LoadCycles, call: Call) -> LayeredCall:
    pieces = list(_pieces(charge.of_task(item.pid, call.start_ns, call.end_ns)))
    parts: Counter[Path] = Counter()
    for path, time_ns in pieces:
        parts[path] += time_ns
    sleeps = asleep_in(charge.recorded, item.pid, call.start_ns, call.end_ns)
    functions = inclusive(sleeps)
    return LayeredCall(
        load=item.name,
        number=call.number,
        call=call.name,
        start_ns=call.start_ns - run.zero_ns,
        duration_ns=call.end_ns - call.start_ns,
        parts=dict(parts.most_common()),
        served=sum(path[-1] in (DEVICE, FLUSH) for path, _ in pieces),
        functions=functions,
        entered={name: each.of(item.pid, call.start_ns, call.end_ns) for name, each in entered.items()},
        prefixes=summed(functions),
        once=once(sleeps),
    )


def _pieces(found: Iterable[Piece]) -> Iterator[tuple[Path, int]]:
    """Yield the pieces that are not empty, and how long they are; neighbours on the same path are one."""
    filled = (piece for piece in found if piece[2] > piece[1])
    for path, pieces in groupby(filled, key=itemgetter(0)):
        yield path, sum(end_ns - start_ns for _, start_ns, end_ns in pieces)


def _by(parts: Mapping[Path, int], place: int) -> dict[str, int]:
    found: Counter[str] = Counter()
    for path, time_ns in parts.items():
        found[path[place]] += time_ns
    return dict(found.most_common())
