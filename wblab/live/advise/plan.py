"""Plan the study: one cell for the current settings, and one for each remedy. Runs nothing.

The pairs of the second round are chosen after the first. All possible pairs are planned here, because the machine's
settings may have changed when the first round ends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.live.advise import NAME as _DESIGN
from wblab.live.advise.machinesite import MachineSite
from wblab.live.advise.remedies import NOW, Remedy, joined
from wblab.live.advise.settings import WantedSetting, differing, impossible
from wblab.live.disks.queue import UNKNOWN
from wblab.live.twin.described import PAGE_BYTES, Machine
from wblab.live.twin.elsewhere import ONE_BY_ONE
from wblab.live.twin.scale import Twin, factor_of, twin_of
from wblab.report.quantities import size
from wblab.study.cells import Cell
from wblab.study.plan import Plan

AXIS = "remedy"
NAME = "advice"
# A larger twin takes longer, because it writes more. Its memory costs little: a guest uses host memory only for pages
# that it touches.
_LARGEST_GUEST_BYTES, _MOST_WRITTEN_BYTES = 2 << 30, 192 << 20
_FINE_BYTES, _COARSE_BYTES = 1 << 20, 256 << 10  # least limit on dirty memory in the twin: wanted, and still useful
_MOST_NAME = 40
# A copy of which nobody knows the blocks is tried in both. Large ones matter on a disk that writes less than the
# largest folio in each of the kernel's longest pauses: 2 MiB in 0.2 s (balance_dirty_pages() in mm/page-writeback.c).
BLOCK = "block"
SMALL_BYTES, LARGE_BYTES = 4 << 10, 1 << 20
_SLOW_BPS = 10 << 20
# A block that the disk does not write in the longest pause passes a limit as one folio, before its writer is stopped.
# On the machine where low limits were tried so, those of up to a second of the disk's work went unlike the twin, both
# ways (docs/how-to/advise.md).
_LONGEST_PAUSE_S, _LOW_S = 0.2, 1.5
# A disk of which nobody knows the driver is tried as one that takes many requests at a time, and as one that takes one:
# what has been handed to the disk is not shortened with the queue.
REQUESTS = "requests"


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A remedy for this machine: what to set, and the cell that tries it. NOW sets nothing.

    beside: further cells that try it, with other guesses at what nobody knows.
    """

    name: str
    about: str
    cell: str
    beside: tuple[str, ...] = field(default=())
    wanted: tuple[WantedSetting, ...] = field(default=())

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of all cells that try it."""
        return (self.cell, *self.beside)

    @property
    def has_group(self) -> bool:
        """Whether the heavy writer must be put into a control group."""
        return any(item.where == "slice" for item in self.wanted)


@dataclass(frozen=True, kw_only=True)
class Option:
    """A candidate with its cells' specs, which the second round may try. of: the two remedies that it combines.

    beside: the specs of its further cells. guesses: the levels of each cell that say what is guessed there.
    """

    candidate: Candidate
    spec: Spec
    beside: tuple[Spec, ...] = field(default=())
    guesses: tuple[dict[str, str], ...] = field(default=({},))
    of: tuple[str, ...] = field(default=())

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Its cells in the study, one for each guess."""
        name, specs = self.candidate.name, (self.spec, *self.beside)
        each = zip(self.candidate.cells, specs, self.guesses, strict=True)
        return tuple(Cell(cell, {AXIS: name, **levels}, spec) for cell, spec, levels in each)


@dataclass(frozen=True)
class PlannedAdvice:
    """The plan, with its candidates in the order of the cells, and the twin with the current settings.

    pairs: what the second round may try. left_out: reasons why remedies are not tried, by name.
    """

    plan: Plan
    candidates: tuple[Candidate, ...]
    pairs: tuple[Option, ...]
    twin: Twin
    factor: int
    left_out: Mapping[str, str]


@dataclass(frozen=True)
class _State:
    """A machine with a remedy applied. of: the names of the remedies that it combines."""

    remedy: Remedy
    machine: Machine
    of: tuple[str, ...] = ()


def plan(
    now: Machine, site: MachineSite, remedies: Mapping[str, Remedy], seeds: Sequence[int], kernel: str = ""
) -> PlannedAdvice:
    """Return the plan. Raises InputError if no remedy can be tried or the twin cannot run."""
    tried: dict[str, _State] = {}
    left_out: dict[str, str] = {}
    for name, remedy in remedies.items():
        then = remedy.on(now)
        if reason := impossible(remedy, site):
            left_out[name] = reason
        elif then == now:
            left_out[name] = "changes nothing: this machine's value is that low already"
        elif same := next((other for other, state in tried.items() if state.machine == then), ""):
            left_out[name] = f"has the same effect as {same} on this machine"
        elif passed := _passes(now, then):
            left_out[name] = f"one write of {size(passed)} passes it; a twin was not right about that"
        else:
            tried[name] = _State(remedy, then)
    factor = fine_factor(now, [state.machine for state in tried.values()])
    for name in [name for name, state in tried.items() if _is_too_little(state.machine, factor)]:
        left_out[name] = "leaves too few dirty pages in the scaled-down twin to try it"
        del tried[name]
    if not tried:
        raise InputError(f"no remedy can be tried here: {'; '.join(f'{k}: {v}' for k, v in left_out.items())}")
    both = [state for state in _joined(now, list(tried.values())) if not _is_too_little(state.machine, factor)]
    states = [_State(Remedy(name=NOW, about="the current settings"), now), *tried.values(), *both]
    digits = len(str(len(states) - 1))
    options = [_option(now, state, f"{number:0{digits}}", factor, kernel) for number, state in enumerate(states)]
    alone = [option for option in options if not option.of]
    return PlannedAdvice(
        Plan(NAME, tuple(seeds), tuple(cell for option in alone for cell in option.cells), design=_DESIGN),
        tuple(option.candidate for option in alone),
        tuple(option for option in options if option.of),
        twin_of(_shown(now), NAME, factor),
        factor,
        left_out,
    )


def _shown(now: Machine) -> Machine:
    """Return the machine whose twin stands for all in words: both guesses at requests are tried, not doubted."""
    is_tried = any(guess.one for guess in guesses_at(now))
    return replace(now, block_bytes=_blocks_of(now)[-1], at_once=2 if is_tried else now.at_once)


def _joined(now: Machine, alone: Sequence[_State]) -> Iterator[_State]:
    """Yield the machine with each pair of remedies that can be combined and differs from either remedy alone."""
    names = {state.remedy.name for state in alone}
    known = [state.machine for state in alone]
    for one, other in combinations([state.remedy for state in alone], 2):
        both = joined(one, other)
        if both is not None and both.name not in names and (then := both.on(now)) not in known:
            known.append(then)
            yield _State(both, then, (one.name, other.name))


def _option(now: Machine, state: _State, number: str, factor: int, kernel: str) -> Option:
    remedy = state.remedy
    specs: list[Spec] = []
    guesses = guesses_at(now)
    for guess in guesses:
        name = f"{number}-{_plain(remedy.name)}{guess.mark}"
        specs.append(twin_of(guess.on(state.machine), name, factor).spec.on(kernel))
        check_spec(specs[-1])
    candidate = Candidate(
        name=remedy.name,
        about=remedy.about,
        cell=specs[0].name,
        beside=tuple(spec.name for spec in specs[1:]),
        wanted=tuple(differing(now, state.machine)),
    )
    levels = tuple(guess.levels for guess in guesses)
    return Option(candidate=candidate, spec=specs[0], beside=tuple(specs[1:]), guesses=levels, of=state.of)


@dataclass(frozen=True)
class Guess:
    """A guess at what nobody knows of a machine. block_bytes: in which copies write. one: one request at a time.

    levels: what is guessed, in words, by axis. mark: of the names of its cells.
    """

    block_bytes: int
    one: bool
    levels: dict[str, str]
    mark: str

    def on(self, machine: Machine) -> Machine:
        """Return a machine of which this is so."""
        queue = replace(machine.queue, driver=ONE_BY_ONE) if self.one and machine.queue else machine.queue
        return replace(machine, block_bytes=self.block_bytes, queue=queue)


def guesses_at(machine: Machine) -> tuple[Guess, ...]:
    """Return the guesses with which each remedy is tried: one that says nothing, if all is known."""
    blocks = _blocks_of(machine)
    is_open = machine.queue is not None and machine.queue.driver == UNKNOWN and machine.at_once < 2
    found = []
    for one in (False, True) if is_open else (False,):
        for number, block in enumerate(blocks):
            levels = {BLOCK: size(block)} if len(blocks) > 1 else {}
            if is_open:
                levels[REQUESTS] = "one" if one else "many"
            found.append(Guess(block, one, levels, "-large" * bool(number) + "-one" * one))
    return tuple(found)


def said_of(levels: Mapping[str, object]) -> str:
    """Return what is guessed in a cell, in words; empty if nothing is."""
    words = [f"blocks of {levels[BLOCK]}"] if BLOCK in levels else []
    return ", ".join([*words, f"{levels[REQUESTS]} at a time"] if REQUESTS in levels else words)


def unknown_in(cases: Iterable[str]) -> list[str]:
    """Return what nobody knows, by the words of what was tried."""
    every = "; ".join(cases)
    open_ = {
        "blocks of ": "in which blocks copies write there",
        "one at a time": "how many requests the disk takes at once",
    }
    return [said for words, said in open_.items() if words in every]


def _blocks_of(machine: Machine) -> tuple[int, ...]:
    """Return the sizes of the blocks in which the copy beside a remedy writes, in bytes: the known one, or two."""
    if machine.block_bytes or machine.folio_bytes <= PAGE_BYTES or machine.write_bps >= _SLOW_BPS:
        return (machine.block_bytes,)
    return SMALL_BYTES, LARGE_BYTES


def _passes(now: Machine, then: Machine) -> int:
    """Return the size of a write that passes the limit of a machine with a remedy as one folio; 0 if none does."""
    block = min(_blocks_of(now)[-1], now.folio_bytes)
    is_low = then.dirty_bytes < min(now.dirty_bytes, _LOW_S * now.write_bps)
    return block if is_low and block > PAGE_BYTES and block > _LONGEST_PAUSE_S * now.write_bps else 0


def fine_factor(now: Machine, others: Sequence[Machine]) -> int:
    """Return the twins' scale factor: small enough that every twin's limit on dirty memory has many pages."""
    finest = min(_least_bytes(machine) for machine in (now, *others)) / _FINE_BYTES
    smallest = [machine.queue.request_bytes for machine in (now, *others) if machine.queue]
    request = min(smallest) / PAGE_BYTES if smallest else finest
    least = max(now.memory_bytes / _LARGEST_GUEST_BYTES, now.offender_bytes / _MOST_WRITTEN_BYTES)
    return max(1, int(min(factor_of(now), max(least, min(finest, request)))))


def _is_too_little(machine: Machine, factor: int) -> bool:
    return _least_bytes(machine) < factor * _COARSE_BYTES


def _least_bytes(machine: Machine) -> float:
    """Return the smallest of a machine's limits on dirty memory, in bytes."""
    own = machine.dirty_bytes * machine.own_limit / 1_000_000
    high = machine.group.memory_high if machine.group and machine.group.memory_high else machine.dirty_bytes
    return min(own, high, machine.dirty_bytes)


def _plain(name: str) -> str:
    """Return a remedy's name as part of a file name."""
    return name.replace("+", "-and-").replace("%", "")[:_MOST_NAME].rstrip("-.")
