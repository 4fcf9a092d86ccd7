"""A bisection as a report: the first bad commit, or those that it is one of, and every commit that was tried."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from wblab.analysis.statistics.intervals import interval
from wblab.report import quantities
from wblab.report.quantities import numbers, quantity, unit_of
from wblab.report.report import Block, Column, Points, Report, Row, Section, Table
from wblab.study.designs.bisect.bisection import short
from wblab.study.designs.bisect.measuring import Metric
from wblab.study.designs.bisect.repository import GitCommit
from wblab.study.designs.bisect.result import BisectionAnswer, interval_text, one_of

_MOST_LISTED = 10
_NONE = "-"


def report(found: BisectionAnswer, directory: Path) -> Report:
    """Return the report of a bisection. directory: of its study."""
    question = found.question
    word, first = question.walk.new, found.first_bad
    return Report(
        title=f"The commit that changed {question.metric}",
        headline=f"First {word} commit: {first}" if first else f"The first {word} commit is {one_of(found)}.",
        blocks=(
            *(_commit(found.commits[first]) if first else _possible(found)),
            _change(found),
            Section("Commits that were tried, oldest first", (_tried(found),)),
        ),
        notes=tuple(_other_patches(found)),
        data={"directory": str(directory)} | question.to_json() | found.to_json(),
    )


def _commit(commit: GitCommit) -> Iterator[Block]:
    about = (("author", commit.author), ("date", commit.date), ("subject", commit.subject))
    yield Table((Column(""), Column("", "prose")), tuple(map(Row, about)))


def _possible(found: BisectionAnswer) -> Iterator[Block]:
    """Yield the commits of which one is the first bad one, and what they change."""
    listed = tuple(f"{short(commit)} {found.commits[commit].subject}" for commit in found.possible[:_MOST_LISTED])
    more = len(found.possible) - _MOST_LISTED
    yield Points((*listed, f"and {more} more") if more > 0 else listed)
    if areas := [f"{folder} ({changes})" for folder, changes in found.touched[:_MOST_LISTED]]:
        yield f"They change {', '.join(areas)}."


def _change(found: BisectionAnswer) -> str:
    metric = found.question.metric
    values = (median(found.before.values), median(found.after.values))
    (before, after), unit = numbers(values, unit_of(metric.name))
    sides = ("before", "after") if found.first_bad else ("at GOOD", "at BAD")
    medians = f"median {before} {unit} {sides[0]}, {after} {unit} {sides[1]}"
    return f"{metric}: {medians}; the means differ by {interval_text(metric, found.change)}."


def _tried(found: BisectionAnswer) -> Table:
    heads = (Column("commit"), Column("verdict"), Column("seeds", "number"), Column("median", "number", 2))
    rows = []
    for commit in found.commits.values():
        if trial := found.trial(commit.hash):
            figures = _figures(found.question.metric, trial.values)
            note = trial.why.split("; see ")[0] or commit.subject
            rows.append(Row((short(commit.hash), found.question.walk.word(trial.verdict), *figures, note)))
    return Table((*heads, Column("mean", "number", 1), Column("", "prose")), tuple(rows))


def _figures(metric: Metric, values: Sequence[float]) -> tuple[str, str, str]:
    """Return the number of seeds, the median, and the mean with its interval."""
    if not values:
        return _NONE, _NONE, _NONE
    mean, unit = interval([values], [1.0]), unit_of(metric.name)
    middle = quantity(median(values), unit)
    return str(len(values)), middle, quantities.interval(mean.estimate, mean.low, mean.high, unit)


def _other_patches(found: BisectionAnswer) -> Iterator[str]:
    """Warn if the kernels before and after have other patches of the lab: these may be what changed the figure."""
    before, after = (
        {_stem(name) for name in found.patches.get(side.commit, ())} for side in (found.before, found.after)
    )
    parts = [("only before", sorted(before - after)), ("only after", sorted(after - before))]
    if words := [f"{where}: {', '.join(names)}" for where, names in parts if names]:
        yield f"The lab's patches differ too, and may be the cause; {'; '.join(words)}."


def _stem(name: str) -> str:
    """Return NAME for 0001-NAME.patch."""
    return name.partition("-")[2].removesuffix(".patch")
