"""All that was tried, and what became of it: each value on each ground, beside the default."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from wblab.analysis.statistics.decision import LEAST
from wblab.analysis.statistics.outcome import Outcome
from wblab.core.units import NS_PER_S
from wblab.study.cells import Cell
from wblab.study.designs.paired.advice import DEFAULT, UNSET, Advice, Metric, Promise, Role, Value
from wblab.study.designs.paired.asked import ASKED
from wblab.study.designs.paired.measured import RISING, TRACED, Measured
from wblab.study.designs.paired.plan import ADVICE, GROUND, SCALING
from wblab.study.designs.paired.scale import background_bytes
from wblab.study.designs.paired.verdict import (
    HARM_PERCENT,
    LOOKS,
    NOTICED_S,
    RELIEF_PERCENT,
    Figure,
    bound_figure,
    corrected,
    is_worse,
    judge,
    ratio_figure,
)

_OTHERS: tuple[Role, Metric] = ("innocent", "longest_pause_s")
_COST: tuple[Role, Metric] = ("offender", "throughput_bps")
_UNCHANGED = 100.0


@dataclass(frozen=True)
class Kept:
    """What became of a promise on one ground. figure: what was promised; None where nothing was measured.

    harm: the same metric beside the default, where that is another question. before: the default keeps it as well.
    """

    promise: Promise
    figure: Figure | None
    harm: Figure | None
    before: bool
    outcome: Outcome = "not decided"


@dataclass(frozen=True)
class Tried:
    """A value on one ground, scaled in one way, and how it compares with the default.

    others: the innocents' longest stop, as a ratio, beside HARM_PERCENT; relief: the same beside RELIEF_PERCENT. cost:
    the offender's rate, as a ratio. refused: what of it the kernel does not take there. failed: why else no run counts.
    """

    key: str
    advice: Advice
    value: Value
    cell: Cell
    others: Figure | None
    relief: Figure | None
    cost: Figure | None
    kept: tuple[Kept, ...]
    refused: str = ""
    failed: str = ""

    @property
    def ground(self) -> str:
        """Where it was tried."""
        return str(self.cell.levels[GROUND])

    @property
    def way(self) -> str:
        """How it was scaled."""
        return str(self.cell.levels[SCALING])

    @property
    def is_open(self) -> bool:
        """Whether more seeds could decide a promise."""
        return any(kept.figure is not None and kept.figure.is_open for kept in self.kept)

    @property
    def harms_others(self) -> bool:
        """Whether it stops the innocent for longer."""
        return self.value.is_setting and is_worse(self.others)

    @property
    def helps_others(self) -> bool:
        """Whether the innocent are stopped for less."""
        return self.value.is_setting and judge(self.relief) == "reproduced"


def judged(found: Measured, cells: Sequence[Cell], *, looks: int = LOOKS) -> list[Tried]:
    """Return what became of all values that were tried, all verdicts corrected together.

    looks: how often these are looked at, at most.
    """
    tried = list(_tried(found, cells))
    figures = [figure for item in tried for figure in _claims(item) if figure is not None]
    shown = iter(corrected(figures, looks))

    def next_of(figure: Figure | None) -> Figure | None:
        return None if figure is None else next(shown)

    return [_settled(item, [next_of(figure) for figure in _claims(item)]) for item in tried]


def baseline(cells: Sequence[Cell], cell: Cell, against: str = DEFAULT) -> Cell | None:
    """Return the cell that another is compared with: on the same ground, the default or another value."""
    return next(
        (one for one in cells if one.levels[GROUND] == cell.levels[GROUND] and one.levels[ADVICE] == against), None
    )


def _tried(found: Measured, cells: Sequence[Cell]) -> Iterator[Tried]:
    values = found.wisdom.values()
    for cell in cells:
        key = str(cell.levels[ADVICE])
        if key not in values or cell.levels[GROUND] == ASKED:
            continue
        (advice, value), default = values[key], baseline(cells, cell)
        if default is None:
            continue
        others = _ratio(found, cell, default, _OTHERS, HARM_PERCENT)
        relief = _ratio(found, cell, default, _OTHERS, RELIEF_PERCENT)
        cost = _ratio(found, cell, default, _COST, _UNCHANGED)
        kept = tuple(
            _kept(found, cells, cell, default, advice, promise)
            for promise in _promises(found, cell)
            if not _is_short(promise, found, default)
        )
        refused, failed = (reasons.get(cell.name, "") for reasons in (found.refused, found.failed))
        yield Tried(key, advice, value, cell, others, relief, cost, kept, refused, failed)


def _promises(found: Measured, cell: Cell) -> list[Promise]:
    """Return what is to be looked at in a cell."""
    advice, value = found.wisdom.values()[str(cell.levels[ADVICE])]
    name = str(cell.levels[GROUND])
    ground = found.wisdom.ground[name]
    return [
        promise
        for promise in advice.promise
        if promise.role in ground.loads
        and (not promise.on or name in promise.on)
        and (not promise.of or value.name in promise.of)
    ]


def _is_short(promise: Promise, found: Measured, default: Cell) -> bool:
    """Return whether a promise is to shorten what nobody notices with the default already."""
    if not 0 < promise.percent < _UNCHANGED or not promise.metric.endswith("_s"):
        return False
    return max(found.values(default, promise.role, promise.metric).values(), default=math.inf) <= NOTICED_S


def _kept(  # noqa: PLR0913, PLR0917 - what a promise is about
    found: Measured, cells: Sequence[Cell], cell: Cell, default: Cell, advice: Advice, promise: Promise
) -> Kept:
    of = (promise.role, promise.metric)
    if promise.percent:
        other = default
        if promise.against:
            value = next(value for value in advice.value if value.name == promise.against)
            other = baseline(cells, cell, advice.key(value)) or default
        figure = _ratio(found, cell, other, of, promise.percent)
        return Kept(promise, figure, None if promise.against else _harm(found, cell, default, of), False)
    values = found.values(cell, *of)
    bound, floor = _bound(promise, cell, found), LEAST if promise.metric.endswith("_s") else 0.0
    if promise.metric in TRACED:
        return Kept(promise, bound_figure(values, bound, floor=floor), None, False)
    before = found.values(default, *of)
    keeps = bool(before) and max(before.values()) <= bound
    return Kept(
        promise,
        bound_figure(values, bound, floor=floor),
        _harm(found, cell, default, of),
        keeps and not promise.law,
    )


def _bound(promise: Promise, cell: Cell, found: Measured) -> float:
    """Return what a metric may be at most: what is counted is a number, all else is in s."""
    if promise.law:
        disk = cell.spec.disk[found.wisdom.ground[str(cell.levels[GROUND])].disk]
        return background_bytes(cell.spec) / disk.write_bps
    assert promise.at_most != UNSET
    return promise.at_most / (NS_PER_S if promise.metric.endswith("_s") else 1)


def _ratio(found: Measured, cell: Cell, other: Cell, of: tuple[Role, Metric], percent: float) -> Figure | None:
    role, metric = of
    floor = NOTICED_S if metric.endswith("_s") else 1.0
    changed, before = found.values(cell, role, metric), found.values(other, role, metric)
    return ratio_figure(changed, before, percent, rising=metric in RISING, floor=floor)


def _harm(found: Measured, cell: Cell, default: Cell, of: tuple[Role, Metric]) -> Figure | None:
    return _ratio(found, cell, default, of, 100 * 100 / HARM_PERCENT if of[1] in RISING else HARM_PERCENT)


def _claims(item: Tried) -> list[Figure | None]:
    """Return all figures of which something could be claimed."""
    return [item.others, item.relief, item.cost, *(figure for kept in item.kept for figure in (kept.figure, kept.harm))]


def _settled(item: Tried, figures: Sequence[Figure | None]) -> Tried:
    """Return what was tried with its corrected figures, in the order of `_claims`, and the outcomes that follow."""
    others, relief, cost, *rest = figures
    kept = []
    for one, figure, harm in zip(item.kept, rest[::2], rest[1::2], strict=True):
        beside = (harm, others) if item.value.is_setting else ()
        kept.append(replace(one, figure=figure, harm=harm, outcome=judge(figure, *beside)))
    return replace(item, others=others, relief=relief, cost=cost, kept=tuple(kept))
