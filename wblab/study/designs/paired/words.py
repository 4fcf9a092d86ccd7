"""A trial in words: a row for each expectation, and the figure that decides it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wblab.analysis.statistics.outcome import HARMS, NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, Outcome
from wblab.lab.tables import Table
from wblab.report.metricnames import unit_of
from wblab.report.quantities import interval, quantity, span
from wblab.study.designs.paired.asked import Answer
from wblab.study.designs.paired.judged import Kept, Tried
from wblab.study.designs.paired.recommendations import Expectation, Wisdom
from wblab.study.designs.paired.verdict import Figure, is_worse, overall

_WORST = (HARMS, NOT_REPRODUCED, NOT_DECIDED, REPRODUCED)
_NONE = "-"


@dataclass(frozen=True)
class Looked:
    """An expectation on one scenario, scaled in one way."""

    tried: Tried
    kept: Kept

    @property
    def place(self) -> str:
        """The scenario and its scaling."""
        return place_text(self.tried)


@dataclass(frozen=True)
class Row:
    """An expectation of a value, with all scenarios where it was tested. worst: the one that decides."""

    key: str
    expectation: Expectation
    outcome: Outcome
    worst: Looked
    looked: tuple[Looked, ...]

    @property
    def counts(self) -> str:
        """In how many scenarios it was reproduced, of all: 3 of 4."""
        found = [one.kept.outcome for one in self.looked]
        return f"{found.count(REPRODUCED)} of {len(found)}"


def rows(tried: Sequence[Tried], wisdom: Wisdom) -> list[Row]:
    """Return a row for each value and expectation."""
    found = []
    for key, (entry, _) in wisdom.values().items():
        everywhere = [item for item in tried if item.key == key]
        for expectation in entry.expectation:
            looked = tuple(
                Looked(item, kept) for item in everywhere for kept in item.kept if kept.expectation is expectation
            )
            if looked:
                outcome = overall([one.kept.outcome for one in looked])
                found.append(Row(key, expectation, outcome, max(looked, key=_badness), looked))
    return found


def worst_text(row: Row) -> str:
    """Return the figure that decides an expectation, with its scenario."""
    if row.worst.tried.refused:
        return f"this kernel rejects {row.worst.tried.refused} on {row.worst.place}"
    if row.worst.tried.failed:
        return f"no run succeeded on {row.worst.place}: {row.worst.tried.failed}"
    if row.outcome == HARMS and not is_worse(row.worst.kept.harm):
        return f"light writers' longest pause {figure_text(row.worst.tried.others)} on {row.worst.place}"
    figure = row.worst.kept.harm if row.outcome == HARMS else row.worst.kept.figure
    return f"{figure_text(figure, row.expectation.metric)} on {row.worst.place}"


def place_text(item: Tried) -> str:
    """Return a scenario with its scaling: throttle, by seconds."""
    return item.scenario if item.way == "as it is" else f"{item.scenario}, {item.way}"


def figure_text(figure: Figure | None, metric: str = "") -> str:
    """Return a figure with its interval: ×0.43 (0.40 to 0.46), or 1.32 s (1.21 to 1.40)."""
    if figure is None:
        return _NONE
    found = figure.interval
    return interval(found.estimate, found.low, found.high, _unit(figure, metric))


def threshold_text(figure: Figure | None, metric: str = "") -> str:
    """Return the threshold of an expectation: at most 1 s, at least ×1.05."""
    if figure is None:
        return _NONE
    return f"at {'least' if figure.rising else 'most'} {quantity(figure.threshold, _unit(figure, metric))}"


def _unit(figure: Figure, metric: str) -> str:
    """Return the unit of a figure: of its metric, or that of a ratio."""
    return unit_of(metric) if figure.absolute else "×"


def cost_text(items: Sequence[Tried]) -> str:
    """Return the ratio of the offender's rate over all scenarios: the least and the greatest."""
    return range_text([item.cost.interval.estimate for item in items if item.cost is not None])


def others_text(items: Sequence[Tried]) -> str:
    """Return where the innocent loads' longest pause is shorter and where longer, with the ratios."""
    better = _scenarios_text([item for item in items if item.helps_others])
    worse = _scenarios_text([item for item in items if item.harms_others])
    said = [f"{word} on {where}" for word, where in (("shorter", better), ("longer", worse)) if where]
    return "; ".join(said) or "no difference shown"


def _scenarios_text(items: Sequence[Tried]) -> str:
    ratios: dict[str, list[float]] = {}
    for item in items:
        if item.others is not None:
            ratios.setdefault(item.scenario, []).append(item.others.interval.estimate)
    return ", ".join(f"{scenario} ({range_text(found)})" for scenario, found in ratios.items())


def range_text(ratios: Sequence[float]) -> str:
    """Return ratios from the least to the greatest: ×0.41 to ×0.64."""
    return span(min(ratios), max(ratios), "×") if ratios else _NONE


def kernel_text(answer: Answer | None, key: str, wisdom: Wisdom) -> str:
    """Return how the kernel changed or rejected a value as published; empty if it accepted it."""
    return answer.words(wisdom.values()[key][1]) if answer else ""


def terminal_table(found: Sequence[Row], wisdom: Wisdom) -> Table:
    """Return the verdicts for a terminal: a line for each expectation."""
    lines = []
    for row in found:
        entry, value = wisdom.values()[row.key]
        lines.append((row.key, entry.who, value.name, row.outcome, row.counts, worst_text(row), row.expectation.says))
    return Table(lines, ("", "source", "settings", "verdict", "holds in", "worst scenario", "expectation"))


def asked_lines(answers: Mapping[str, Answer], wisdom: Wisdom) -> list[str]:
    """Return a line for each value that the kernel does not accept as published."""
    found = {key: kernel_text(answer, key, wisdom) for key, answer in answers.items()}
    return [f"{key} as published: {words}" for key, words in found.items() if words]


def _badness(one: Looked) -> tuple[int, float]:
    figure = one.kept.figure
    if one.kept.outcome == HARMS:
        figure = one.kept.harm if is_worse(one.kept.harm) else one.tried.others
    rank = len(_WORST) - _WORST.index(one.kept.outcome)
    if figure is None:
        return rank, 0.0
    return rank, -figure.interval.estimate if figure.rising else figure.interval.estimate
