"""From a machine and remedies to a matrix: the twin as it is now and with each remedy, a cell each. Runs nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from wblab.advise.remedies import NOW, Remedy
from wblab.advise.settings import Wanted, differing, impossible
from wblab.advise.site import Site
from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.matrix.cells import Cell
from wblab.matrix.plan import Matrix
from wblab.twin.machine import Machine
from wblab.twin.scale import Twin, factor_of, twin_of

AXIS = "remedy"
NAME = "advice"
# A finer twin takes longer: what is written counts, as of a guest's memory the host gives only what it touches.
_LARGEST_GUEST_BYTES, _MOST_WRITTEN_BYTES = 2 << 30, 192 << 20
_FINE_BYTES, _COARSE_BYTES = 1 << 20, 256 << 10  # of what may be dirty in the twin: wanted, and still tried
_PAGE_BYTES = 4096
_CONTROL_BOUND_NS, _REPEATS = 50_000_000, 2  # of runs in real time, of which there are none


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A remedy on this machine: what is to be set, and the cell in which it was tried. Of NOW nothing is set."""

    name: str
    about: str
    cell: str
    wanted: tuple[Wanted, ...] = field(default=())

    @property
    def has_group(self) -> bool:
        """Whether it needs to be known who writes much."""
        return any(item.where == "slice" for item in self.wanted)


@dataclass(frozen=True)
class Planned:
    """The matrix, its candidates in the order of its cells, the twin as it is now, and why others were left out."""

    matrix: Matrix
    candidates: tuple[Candidate, ...]
    twin: Twin
    factor: int
    left_out: Mapping[str, str]


def plan(now: Machine, site: Site, remedies: Mapping[str, Remedy], seeds: Sequence[int], kernel: str = "") -> Planned:
    """Return what is to run. Raises InputError where no remedy can be tried, or the twin cannot run."""
    tried: dict[str, tuple[Remedy, Machine]] = {}
    left_out: dict[str, str] = {}
    for name, remedy in remedies.items():
        then = remedy.on(now)
        if reason := impossible(remedy, site):
            left_out[name] = reason
        elif then == now:
            left_out[name] = "changes nothing: it is so already, or less"
        elif same := next((other for other, (_, machine) in tried.items() if machine == then), ""):
            left_out[name] = f"is the same as {same} here"
        else:
            tried[name] = (remedy, then)
    factor = fine_factor(now, [machine for _, machine in tried.values()])
    for name in [name for name, (_, then) in tried.items() if _least_bytes(then) < factor * _COARSE_BYTES]:
        left_out[name] = "is too little for a twin of this machine: it would be a few pages"
        del tried[name]
    if not tried:
        raise InputError(f"no remedy can be tried here: {'; '.join(f'{k}: {v}' for k, v in left_out.items())}")
    wanted = {name: differing(now, then) for name, (_, then) in tried.items()}
    machines = {NOW: now} | {name: then for name, (_, then) in tried.items()}
    digits = len(str(len(machines) - 1))
    cells, candidates = [], []
    for number, (name, machine) in enumerate(machines.items()):
        spec = replace(twin_of(machine, f"{number:0{digits}}-{_plain(name)}", factor).spec, kernel=kernel)
        check_spec(spec)
        cells.append(Cell(spec.name, {AXIS: name}, spec))
        about = tried[name][0].about if name in tried else "as it is set"
        candidates.append(Candidate(name=name, about=about, cell=spec.name, wanted=tuple(wanted.get(name, ()))))
    matrix = Matrix(NAME, tuple(seeds), tuple(cells), _CONTROL_BOUND_NS, _REPEATS)
    return Planned(matrix, tuple(candidates), twin_of(now, NAME, factor), factor, left_out)


def fine_factor(now: Machine, others: Sequence[Machine]) -> int:
    """Return by what factor the twins are smaller: so little that what is least in any is more than some pages."""
    finest = min(_least_bytes(machine) for machine in (now, *others)) / _FINE_BYTES
    request = now.queue.request_bytes / _PAGE_BYTES if now.queue else finest
    least = max(now.memory_bytes / _LARGEST_GUEST_BYTES, now.offender_bytes / _MOST_WRITTEN_BYTES)
    return max(1, int(min(factor_of(now), max(least, min(finest, request)))))


def _least_bytes(machine: Machine) -> float:
    """Return the least of what may be dirty on a machine, by any of its limits."""
    own = machine.dirty_bytes * machine.own_limit / 1_000_000
    high = machine.group.memory_high if machine.group and machine.group.memory_high else machine.dirty_bytes
    return min(own, high, machine.dirty_bytes)


def _plain(name: str) -> str:
    """Return a remedy's name as a file has it."""
    return name.replace("+", "-and-").replace("%", "")
