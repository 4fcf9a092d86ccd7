"""The result of each value on each scenario, compared with the default."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from wblab.analysis.statistics.decision import Outcome
from wblab.claims.trial.measured import RISING, TRACED, TrialFigures
from wblab.claims.trial.plan import ASKED, RECOMMENDATION, SCALING, SCENARIO, background_bytes
from wblab.claims.trial.recommendations import DEFAULT, UNSET, Expectation, Metric, Recommendation, Role, Value
from wblab.claims.trial.verdict import (
    HARM_PERCENT,
    LOOKS,
    NOTICED_S,
    RELIEF_PERCENT,
    JudgedFigure,
    bound_figure,
    corrected,
    is_worse,
    judge,
    ratio_figure,
)
from wblab.core.units import NS_PER_S
from wblab.study.cells import Cell

_OTHERS: tuple[Role, Metric] = ("innocent", "longest_pause_s")
_COST: tuple[Role, Metric] = ("offender", "throughput_bps")
_UNCHANGED = 100.0


@dataclass(frozen=True)
class KeptExpectation:
    """The result of an expectation on one scenario. figure: the expected metric; None if nothing was measured.

    harm: the same metric compared with the default, unless `figure` is that. before: the default meets it, too.
    """

    expectation: Expectation
    figure: JudgedFigure | None
    harm: JudgedFigure | None
    before: bool
    outcome: Outcome = "not decided"


@dataclass(frozen=True)
class Tried:
    """A value on one scenario, scaled in one way, compared with the default.

    others: ratio of the innocent loads' longest pause, to be judged against HARM_PERCENT; relief: the same against
    RELIEF_PERCENT. cost: ratio of the offender's rate. refused: a setting that the kernel rejects there. failed: any
    other reason why there is no run.
    """

    key: str
    recommendation: Recommendation
    value: Value
    cell: Cell
    others: JudgedFigure | None
    relief: JudgedFigure | None
    cost: JudgedFigure | None
    kept: tuple[KeptExpectation, ...]
    refused: str = ""
    failed: str = ""

    @property
    def scenario(self) -> str:
        """The name of the scenario."""
        return str(self.cell.levels[SCENARIO])

    @property
    def way(self) -> str:
        """The way of scaling."""
        return str(self.cell.levels[SCALING])

    @property
    def is_open(self) -> bool:
        """Whether more seeds could decide an expectation."""
        return any(kept.figure is not None and kept.figure.is_open for kept in self.kept)

    @property
    def harms_others(self) -> bool:
        """Whether the innocent loads' longest pause is longer."""
        return self.value.is_setting and is_worse(self.others)

    @property
    def helps_others(self) -> bool:
        """Whether the innocent loads' longest pause is shorter."""
        return self.value.is_setting and judge(self.relief) == "reproduced"


def judged(found: TrialFigures, cells: Sequence[Cell], *, looks: int = LOOKS) -> list[Tried]:
    """Return the results of all values, with all verdicts corrected together.

    looks: the most rounds in which they are judged.
    """
    tried = list(_tried(found, cells))
    figures = [figure for item in tried for figure in _claims(item) if figure is not None]
    shown = iter(corrected(figures, looks))

    def next_of(figure: JudgedFigure | None) -> JudgedFigure | None:
        return None if figure is None else next(shown)

    return [_settled(item, [next_of(figure) for figure in _claims(item)]) for item in tried]


def baseline(cells: Sequence[Cell], cell: Cell, against: str = DEFAULT) -> Cell | None:
    """Return the cell that another one is compared with: the default, or another value, on the same scenario."""
    return next(
        (
            one
            for one in cells
            if one.levels[SCENARIO] == cell.levels[SCENARIO] and one.levels[RECOMMENDATION] == against
        ),
        None,
    )


def _tried(found: TrialFigures, cells: Sequence[Cell]) -> Iterator[Tried]:
    values = found.wisdom.values()
    for cell in cells:
        key = str(cell.levels[RECOMMENDATION])
        if key not in values or cell.levels[SCENARIO] == ASKED:
            continue
        (entry, value), default = values[key], baseline(cells, cell)
        if default is None:
            continue
        others = _ratio(found, cell, default, _OTHERS, HARM_PERCENT)
        relief = _ratio(found, cell, default, _OTHERS, RELIEF_PERCENT)
        cost = _ratio(found, cell, default, _COST, _UNCHANGED)
        kept = tuple(
            _kept(found, cells, cell, default, entry, expectation)
            for expectation in _expectations(found, cell)
            if not _is_short(expectation, found, default)
        )
        refused, failed = (reasons.get(cell.name, "") for reasons in (found.refused, found.failed))
        yield Tried(key, entry, value, cell, others, relief, cost, kept, refused, failed)


def _expectations(found: TrialFigures, cell: Cell) -> list[Expectation]:
    """Return the expectations that are tested in a cell."""
    entry, value = found.wisdom.values()[str(cell.levels[RECOMMENDATION])]
    name = str(cell.levels[SCENARIO])
    scenario = found.wisdom.scenario[name]
    return [
        expectation
        for expectation in entry.expectation
        if expectation.role in scenario.loads
        and (not expectation.on or name in expectation.on)
        and (not expectation.of or value.name in expectation.of)
    ]


def _is_short(expectation: Expectation, found: TrialFigures, default: Cell) -> bool:
    """Whether the time that an expectation should shorten is too short to notice with the default."""
    if not 0 < expectation.percent < _UNCHANGED or not expectation.metric.endswith("_s"):
        return False
    return max(found.values(default, expectation.role, expectation.metric).values(), default=math.inf) <= NOTICED_S


def _kept(  # noqa: PLR0913, PLR0917 - what an expectation is about
    found: TrialFigures,
    cells: Sequence[Cell],
    cell: Cell,
    default: Cell,
    entry: Recommendation,
    expectation: Expectation,
) -> KeptExpectation:
    of = (expectation.role, expectation.metric)
    if expectation.percent:
        other = default
        if expectation.against:
            value = next(value for value in entry.value if value.name == expectation.against)
            other = baseline(cells, cell, entry.key(value)) or default
        figure = _ratio(found, cell, other, of, expectation.percent)
        return KeptExpectation(
            expectation, figure, None if expectation.against else _harm(found, cell, default, of), False
        )
    values = found.values(cell, *of)
    bound, is_log = _bound(expectation, cell, found), expectation.metric.endswith("_s")
    if expectation.metric in TRACED:
        return KeptExpectation(expectation, bound_figure(values, bound, is_log=is_log), None, False)
    before = found.values(default, *of)
    keeps = bool(before) and max(before.values()) <= bound
    return KeptExpectation(
        expectation,
        bound_figure(values, bound, is_log=is_log),
        _harm(found, cell, default, of),
        keeps and not expectation.law,
    )


def _bound(expectation: Expectation, cell: Cell, found: TrialFigures) -> float:
    """Return the upper limit of a metric: a number for counts, otherwise in s."""
    if expectation.law:
        disk = cell.spec.disk[found.wisdom.scenario[str(cell.levels[SCENARIO])].disk]
        return background_bytes(cell.spec) / disk.write_bps
    assert expectation.at_most != UNSET
    return expectation.at_most / (NS_PER_S if expectation.metric.endswith("_s") else 1)


def _ratio(
    found: TrialFigures, cell: Cell, other: Cell, of: tuple[Role, Metric], percent: float
) -> JudgedFigure | None:
    role, metric = of
    floor = NOTICED_S if metric.endswith("_s") else 1.0
    changed, before = found.values(cell, role, metric), found.values(other, role, metric)
    return ratio_figure(changed, before, percent, rising=metric in RISING, floor=floor)


def _harm(found: TrialFigures, cell: Cell, default: Cell, of: tuple[Role, Metric]) -> JudgedFigure | None:
    return _ratio(found, cell, default, of, 100 * 100 / HARM_PERCENT if of[1] in RISING else HARM_PERCENT)


def _claims(item: Tried) -> list[JudgedFigure | None]:
    """Return all figures that are judged."""
    return [item.others, item.relief, item.cost, *(figure for kept in item.kept for figure in (kept.figure, kept.harm))]


def _settled(item: Tried, figures: Sequence[JudgedFigure | None]) -> Tried:
    """Return the result with its corrected figures, in the order of `_claims`, and the outcomes."""
    others, relief, cost, *rest = figures
    kept = []
    for one, figure, harm in zip(item.kept, rest[::2], rest[1::2], strict=True):
        beside = (harm, others) if item.value.is_setting else ()
        kept.append(replace(one, figure=figure, harm=harm, outcome=judge(figure, *beside)))
    return replace(item, others=others, relief=relief, cost=cost, kept=tuple(kept))
