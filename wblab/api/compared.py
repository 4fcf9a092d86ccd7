"""Groups of runs compared, as `wblab.compare` and `study.compare` return them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.analysis.groups import comparison
from wblab.analysis.groups.comparison import Sort
from wblab.analysis.groups.observations import Observations, found_observations, looks_at
from wblab.analysis.runs.metrics import is_cause, medians
from wblab.analysis.runs.run import Run
from wblab.analysis.statistics.decision import for_looks
from wblab.analysis.statistics.intervals import Resampling
from wblab.analysis.why.explanations import cause_metrics
from wblab.api.frames import results, shown
from wblab.core.errors import InputError
from wblab.report.comparisonreport import answer, report
from wblab.report.comparisontext import chosen_sorts, differences_frame, footnotes, is_first
from wblab.report.quantities import metric_of
from wblab.report.report import Report
from wblab.report.text import lines

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Comparison(comparison.Comparison):
    """Differences between groups of runs, each against the first group; it shows the answer, a table and notes.

    Attributes:
        axes: the settings that differ between the runs, with their levels; the first level is the baseline.
        groups: the names of the groups; the first is the baseline.
        data: what is compared; `data.table` has a row for each run, load and metric, `data.notes` what was left out.
        confidence: of each interval, corrected for the number of tests.
    """

    data: Observations

    @property
    def answer(self) -> str:
        """One sentence: the difference that matters most, or what to do to find one."""
        return answer(self._shown)

    @property
    def table(self) -> "pd.DataFrame":
        """The differences of the first metrics, by load, metric and change, worded with their units and intervals."""
        return differences_frame(self)

    @property
    def medians(self) -> "pd.DataFrame":
        """Medians over runs: a row for each group and load, a column for each metric, whose name ends with its unit."""
        return medians(self.data.table, self.data.by)

    @property
    def footnotes(self) -> list[str]:
        """What was left out, what the runs cannot separate, and the number of tests."""
        return footnotes(self)

    @property
    def report(self) -> Report:
        """All that is shown of it."""
        return report(self)

    def figure(self) -> "Figure":
        """Draw every run, the means and their intervals, for each group and, in a factorial study, each change."""
        from wblab.plot.comparisonfigure import comparison_figure

        return comparison_figure(self)

    def plot(self, metric: str = "longest_pause_s", *, ax: "Axes | None" = None) -> "Axes":
        """Draw the effects of changes on a metric, or the groups if there are none; return the axes."""
        from wblab.plot.comparisonfigure import plot_effects, plot_groups

        sorts: Sequence[Sort] = chosen_sorts(self)
        drawn: Axes = (
            plot_groups(self, metric, ax=ax) if sorts == ("group",) else plot_effects(self, metric, sorts, ax=ax)
        )
        return drawn

    @property
    def _shown(self) -> "comparison.Comparison":
        first = self.only(is_first)
        return first if first.differences else self

    def __str__(self) -> str:
        return "\n".join(lines(self.report, None))

    def __repr__(self) -> str:
        return f"<Comparison by {', '.join(self.axes)}: {self.answer}>"

    def _repr_html_(self) -> str | None:
        return shown(self.report)


def compare(  # noqa: PLR0913 - each has a default
    *what: "Run | str | Path",
    by: Sequence[str] = (),
    baseline: Mapping[str, str] | None = None,
    load: Sequence[str] = (),
    metric: Sequence[str] = (),
    causes: bool = False,
    resampling_seed: int = 0,
    exp: str | Path | None = None,
) -> Comparison:
    """Compare groups of runs: those with the same spec, whatever their seeds, are a group.

    Args:
        what: runs, or their directories or names; or one study's directory, its name, or its Parquet or CSV file.
        by: keys of the spec to group by (default: all that differ).
        baseline: compare with the group that has these values, by key (default: the first run's).
        load: compare only these loads; then of fewer tests, so with narrower intervals.
        metric: compare only these metrics, such as "longest_pause_s".
        causes: also compare the paused time by cause, where runs recorded it.
        resampling_seed: of the resampling that computes the intervals.
        exp: where results are (default: as for the command).

    Raises InputError for runs that do not differ, an unknown key, load or metric, and what cannot be read.
    """
    place = results(exp)
    names = [str(item.path if isinstance(item, Run) else item) for item in what]
    if not names:
        raise InputError("there is nothing to compare: give runs, or a study")
    data = found_observations(names, place, by, baseline, cause_metrics if causes else None)
    if causes and not data.table["metric"].map(is_cause).any():
        raise InputError(
            "no run recorded the causes of its pauses: give runs with trace.blame, or a study with "
            'metrics = ["causes"] in its file'
        )
    found = compared(data, Resampling(seed=resampling_seed), looks_at(names, place))
    if not (load or metric):
        return found
    metrics = [metric_of(name, [item.about.metric for item in found.distributions]) for name in metric]
    return replace(found, **_fields(found.of_these(load, metrics)))


def compared(data: Observations, resampling: Resampling, looks: int = 1) -> Comparison:
    """Compare observations. looks: how many looks at them decided the number of seeds."""
    found = comparison.compare(data, for_looks(looks, resampling))
    return Comparison(**_fields(found), data=data)


def _fields(found: comparison.Comparison) -> dict[str, Any]:
    return {field.name: getattr(found, field.name) for field in fields(comparison.Comparison)}
