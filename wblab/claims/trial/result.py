"""The result of a trial: a row for each expectation with the figure that decides it, and all of it as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wblab.analysis.statistics.decision import HARMS, NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, Outcome
from wblab.claims.trial.judged import KeptExpectation, Tried
from wblab.claims.trial.plan import Answer
from wblab.claims.trial.recommendations import Expectation, Wisdom
from wblab.claims.trial.verdict import JudgedFigure, is_worse, overall
from wblab.lab.formats import TRIAL
from wblab.study.cells import Cell, run_name

_WORST = (HARMS, NOT_REPRODUCED, NOT_DECIDED, REPRODUCED)


@dataclass(frozen=True)
class Looked:
    """An expectation on one scenario, scaled in one way."""

    tried: Tried
    kept: KeptExpectation

    @property
    def place(self) -> str:
        """The scenario and its scaling: throttle, by seconds."""
        return self.tried.scenario if self.tried.way == "as it is" else f"{self.tried.scenario}, {self.tried.way}"


@dataclass(frozen=True)
class ExpectationRow:
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


def rows(tried: Sequence[Tried], wisdom: Wisdom) -> list[ExpectationRow]:
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
                found.append(ExpectationRow(key, expectation, outcome, max(looked, key=_badness), looked))
    return found


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial. kernel: its description. answers: how the kernel took each value as published.

    runs: their number; seeds: the most of one cell. filesystem: of an atlas' target, which keeps only the records of
    its runs; otherwise empty.
    """

    wisdom: Wisdom
    tried: tuple[Tried, ...]
    answers: Mapping[str, Answer]
    kernel: Mapping[str, Any]
    runs: int
    seeds: int
    filesystem: str = ""

    @property
    def rows(self) -> list[ExpectationRow]:
        """A row for each expectation."""
        return rows(self.tried, self.wisdom)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; paths of runs are relative to the trial's directory."""
        return {
            **TRIAL.head(),
            "kernel": dict(self.kernel),
            "runs": self.runs,
            "expectations": [_row_json(row, self.wisdom) for row in self.rows],
            "tried": [_tried_json(item) for item in self.tried],
            "asked": {key: asdict(answer) for key, answer in self.answers.items()},
        }


def _badness(one: Looked) -> tuple[int, float]:
    figure = one.kept.figure
    if one.kept.outcome == HARMS:
        figure = one.kept.harm if is_worse(one.kept.harm) else one.tried.others
    rank = len(_WORST) - _WORST.index(one.kept.outcome)
    if figure is None:
        return rank, 0.0
    return rank, -figure.interval.estimate if figure.rising else figure.interval.estimate


def _row_json(row: ExpectationRow, wisdom: Wisdom) -> dict[str, Any]:
    entry, value = wisdom.values()[row.key]
    return {
        "recommendation": row.key,
        "who": entry.who,
        "source": entry.source,
        "set": value.name,
        "says": row.expectation.says,
        "verdict": row.outcome,
        "holds_in": row.counts,
    }


def _tried_json(item: Tried) -> dict[str, Any]:
    return {
        "recommendation": item.key,
        "scenario": item.scenario,
        "scaling": item.way,
        "cell": item.cell.name,
        "others": _figure_json(item.others),
        "cost": _figure_json(item.cost),
        "harms_others": item.harms_others,
        "helps_others": item.helps_others,
        "refused": item.refused,
        "failed": item.failed,
        "expectations": [_kept_json(kept) for kept in item.kept],
    }


def _kept_json(kept: KeptExpectation) -> dict[str, Any]:
    about = {"says": kept.expectation.says, "role": kept.expectation.role, "metric": kept.expectation.metric}
    return about | {
        "verdict": kept.outcome,
        "figure": _figure_json(kept.figure),
        "harm": _figure_json(kept.harm),
        "default_keeps_it": kept.before,
    }


def _figure_json(figure: JudgedFigure | None) -> dict[str, Any] | None:
    """Return a figure as JSON. broken: number of runs beyond the threshold."""
    if figure is None:
        return None
    about = {"threshold": figure.threshold, "absolute": figure.absolute, "rising": figure.rising}
    return {"interval": asdict(figure.interval), **about, "p": figure.p, "broken": figure.broken, "q": figure.q}


def count_runs(cells: Sequence[Cell], there: set[str], seeds: Sequence[int]) -> tuple[int, int]:
    """Return the number of runs of these cells, and the most seeds of one cell."""
    counts = [sum(run_name(cell, seed) in there for seed in seeds) for cell in cells]
    return sum(counts), max(counts, default=0)
