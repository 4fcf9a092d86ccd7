"""A study of many runs, as `wblab.run_study` and `wblab.read` return it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.analysis.groups.observations import matrix_notes, matrix_runs, read_table
from wblab.analysis.sensitivity.analysis import Analysis, Sensitivities, analyse
from wblab.analysis.sensitivity.observed import Observed
from wblab.api.compared import Comparison, compare
from wblab.api.frames import shown
from wblab.api.recorded import Run
from wblab.core.errors import InputError, nearest
from wblab.lab.formats import DESIGN
from wblab.report.explorationreport import report
from wblab.report.explorationtext import (
    effects_frame,
    looks,
    region_sentences,
    salib_sentence,
    tail_sentences,
)
from wblab.report.report import Report, text_of
from wblab.report.text import lines
from wblab.study.store import Store

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_NUMBER, _SEED = r"^\d+-", r"-s\d+$"


class Study:
    """Many runs of one plan: its directory, its runs, and the table of what they measured.

    path: its directory. name: of its plan. design: how its runs were chosen, such as "matrix".
    """

    def __init__(self, path: Path, name: str, design: str) -> None:
        self.path, self.name, self.design = path, name, design

    @classmethod
    def of(cls, path: Path) -> "Study":
        """Read the study in a directory; an exploration, if it is one. Raises InputError."""
        plan = Store.open(path).plan
        kind = Exploration if (path / DESIGN).is_file() else Study
        return kind(path, plan.name, plan.design)

    @cached_property
    def runs(self) -> list[Run]:
        """Its runs that succeeded, as far as their directories are kept. Raises InputError for damaged ones."""
        return [run for run in map(Run.of, matrix_runs(self.path)) if not run.failure]

    @property
    def cells(self) -> dict[str, Run]:
        """A run of each cell, by the cell's name without its number: that of the last seed."""
        return {re.sub(f"{_NUMBER}|{_SEED}", "", run.spec.name): run for run in self.runs}

    @property
    def table(self) -> "pd.DataFrame":
        """A row for each run, load and metric: the axes, `seed`, `run`, `load`, `kind`, `metric`, `value`.

        The end of a metric's name is the unit of its value. Raises InputError if no run is finished.
        """
        return read_table(self.path)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which runs failed, and which were noisy and do not count."""
        return matrix_notes(self.path)

    def compare(self, **options: Any) -> Comparison:
        """Compare its cells with the first one. options: as for `wblab.compare`."""
        return compare(self.path.absolute(), **options)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path.name}: {self.design}>"

    def _repr_html_(self) -> str | None:
        count = self.table.groupby("kind")["run"].nunique().max()
        return shown(Report(self.path.name, f"{self.path.name}: {self.design}, {count} runs", tuple(self.notes)))


class Exploration(Study):
    """A study in which all settings, its factors, vary together, at random but evenly."""

    @cached_property
    def observed(self) -> Observed:
        """What was varied and measured, as arrays with a row for each run."""
        from wblab.study.designs.explore.record import observed

        return observed(self.path, Store.open(self.path).plan.cells[0].spec)

    @property
    def factors(self) -> dict[str, tuple[str, ...]]:
        """The levels of each factor, in order; a range is cut into bins. The dummy affects nothing."""
        return {factor.name: factor.levels for factor in self.observed.factors}

    @property
    def responses(self) -> list[str]:
        """The names of what each run was asked for."""
        return list(self.observed.responses)

    def analyse(self, response: str = "", seed: int = 0) -> "Sensitivity":
        """Return what a response depends on. Takes some seconds.

        Args:
            response: its name (default: the first).
            seed: of the resampling.

        Raises InputError for a response that there is not.
        """
        name = response or self.responses[0]
        if name not in self.responses:
            raise InputError(f"no response {name!r}{nearest(name, self.responses)}: it has {', '.join(self.responses)}")
        found = analyse(self.observed, [name], seed=seed)
        return Sensitivity(self.observed, found, found.findings[0])


@dataclass(frozen=True)
class Sensitivity:
    """What one response of an exploration depends on; it shows its answer.

    observed: the data. analysis, finding: everything in numbers.
    """

    observed: Observed
    analysis: Analysis
    finding: Sensitivities

    @property
    def answer(self) -> str:
        """What it depends on most, in a sentence."""
        return text_of(self.report.headline)

    @property
    def report(self) -> Report:
        """All that is shown of it."""
        return report(self.analysis, self.observed, self.finding.response)

    @property
    def effects(self) -> "pd.DataFrame":
        """For each factor, and pair of them, its share of the variance with an interval, on each scale."""
        return effects_frame(self.finding, self.analysis.factors)

    @property
    def tests(self) -> str:
        """How many effects were looked at, and what that does to the intervals."""
        return f"{looks(self.finding)}."

    @property
    def salib(self) -> str:
        """What SALib's methods say, which know no levels."""
        return salib_sentence(self.finding)

    @property
    def tail(self) -> list[str]:
        """Which levels are more or less frequent in the worst tenth."""
        return tail_sentences(self.finding)

    @property
    def region(self) -> list[str]:
        """Which levels together keep the worst tenth smallest, chosen on one half of the runs, judged on the other."""
        units = {name: response.unit for name, response in self.observed.responses.items()}
        return region_sentences(self.finding.region, units)

    def figures(self) -> "Mapping[str, Figure]":
        """Return its figures by title; those that would be empty are left out."""
        from wblab.plot.exploration import exploration_figures

        return exploration_figures(self.analysis, self.observed, self.finding)

    def __str__(self) -> str:
        return "\n".join(lines(self.report, None))

    def __repr__(self) -> str:
        return f"<Sensitivity: {self.answer}>"

    def _repr_html_(self) -> str | None:
        return shown(self.report)
