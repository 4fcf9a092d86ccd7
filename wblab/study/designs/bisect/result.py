"""A bisection's question and its answer, as JSON, and what it says while it goes on."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from wblab.analysis.statistics.decision import looks
from wblab.analysis.statistics.intervals import Interval
from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import from_table, to_table
from wblab.report import quantities
from wblab.report.quantities import numbers, quantity, unit_of
from wblab.study.designs.bisect.bisection import PLAIN, BisectionTrial, Ends, Obstacle, Walk, short
from wblab.study.designs.bisect.judgement import difference
from wblab.study.designs.bisect.measuring import Metric, named_metric
from wblab.study.designs.bisect.repository import GitCommit

_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_MOST_SEEDS = 1 << 20


@dataclass(frozen=True)
class BisectedFigure:
    """Everything that determines a bisection. most: the maximum number of seeds for one commit. walk: see there."""

    tree: Path
    good: GitCommit
    bad: GitCommit
    metric: Metric
    spec: Spec
    most: int
    walk: Walk = PLAIN

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        commits = {"good": asdict(self.good), "bad": asdict(self.bad)}
        return {"tree": str(self.tree), **commits, "metric": asdict(self.metric)} | {
            "seeds_max": self.most,
            "walk": asdict(self.walk),
            "spec": to_table(self.spec),
        }

    @classmethod
    def from_json(cls, value: Any) -> "BisectedFigure":
        """Read what `to_json` wrote. Raises InputError."""
        try:
            spec = from_table(Spec, value["spec"], exact=True)
            good, bad = (from_table(GitCommit, value[name], name) for name in ("good", "bad"))
            metric = named_metric("{load}.{name}".format(**value["metric"]), spec)
            tree, most = value["tree"], value["seeds_max"]
            walk = Walk.from_json(value["walk"]) if "walk" in value else PLAIN
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"missing or damaged: {error}") from None
        for commit in (good, bad):
            if not _HASH.fullmatch(commit.hash):
                raise InputError(f"{commit.hash[:80]!r} is not the hash of a commit")
        if not isinstance(tree, str) or "\0" in tree or type(most) is not int or not 0 < most <= _MOST_SEEDS:
            raise InputError("the tree or the number of seeds is missing or damaged")
        check_spec(spec)
        return cls(Path(tree), good, bad, metric, spec, most, walk)


@dataclass(frozen=True)
class BisectionAnswer:
    """The answer of a bisection. first_bad: None if skipped commits hide it; it is then one of `possible`."""

    question: BisectedFigure
    ends: Ends
    trials: tuple[BisectionTrial, ...]  # in the order in which they were made
    commits: dict[str, GitCommit]  # by hash, oldest first: those of all trials and of `possible`
    first_bad: str | None
    possible: tuple[str, ...]
    parents: tuple[str, ...]  # of the first bad commit
    patches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the lab's, by the commit that was built
    touched: tuple[tuple[str, int], ...] = ()  # folders that `possible` change, with the number of changes

    def trial(self, commit: str) -> BisectionTrial | None:
        """Return the trial of a commit."""
        return next((trial for trial in (*self.ends.both, *self.trials) if trial.commit == commit), None)

    @property
    def before(self) -> BisectionTrial:
        """The last good commit: a parent of the first bad commit if one was tried and good, else the good end."""
        tried = (self.trial(parent) for parent in self.parents)
        return next((trial for trial in tried if trial and trial.verdict == "good"), self.ends.good)

    @property
    def after(self) -> BisectionTrial:
        """The first bad commit, or the bad end if that is not known."""
        return (self.trial(self.first_bad) if self.first_bad else None) or self.ends.bad

    @property
    def bracket(self) -> tuple[str, str]:
        """The newest commit that is good and the oldest that is bad, in the order of `commits`."""
        sides = {trial.commit: trial.verdict for trial in (*self.trials, *self.ends.both)}
        order = [commit for commit in self.commits if commit in sides]
        bad = next(commit for commit in order if sides[commit] == "bad")
        return [commit for commit in order[: order.index(bad)] if sides[commit] == "good"][-1], bad

    @property
    def obstacles(self) -> Counter[Obstacle]:
        """Why those of `possible` that were tried could not be judged."""
        tried = [trial for trial in self.trials if trial.commit in self.possible]
        return Counter(trial.obstacle for trial in tried if trial.obstacle)

    @property
    def change(self) -> Interval:
        """The difference of the means, `after` - `before`."""
        return difference(self.before.values, self.after.values, looks(self.question.most))

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        first = self.first_bad
        return {
            "first_bad": asdict(self.commits[first]) if first else None,
            "possible": [asdict(self.commits[commit]) for commit in self.possible],
            "obstacles": dict(self.obstacles),
            "touched": dict(self.touched),
            "patches": {commit: list(names) for commit, names in self.patches.items()},
            "before": trial_json(self.before, self.commits[self.before.commit]),
            "after": trial_json(self.after, self.commits[self.after.commit]),
            "change": asdict(self.change),
            "tried": [trial_json(item, self.commits[item.commit]) for item in (*self.ends.both, *self.trials)],
        }


def trial_json(trial: BisectionTrial, commit: GitCommit) -> dict[str, Any]:
    """Return a trial and its commit as one JSON object."""
    values = list(trial.values)
    return asdict(commit) | {
        "verdict": trial.verdict,
        "why": trial.why,
        "median": median(values) if values else None,
        "values": values,
        "linux_sha256": trial.executable,
    }


def trial_line(trial: BisectionTrial, commit: GitCommit, question: BisectedFigure) -> str:
    """Describe one trial in one line."""
    parts = [f"{short(trial.commit)} {question.walk.word(trial.verdict)}"]
    if trial.values:
        seeds = f"{len(trial.values)} seeds"
        parts.append(f"median {quantity(median(trial.values), unit_of(question.metric.name))}, {seeds}")
    return f"{': '.join(parts)} ({trial.why or commit.subject})"


def no_difference(question: BisectedFigure, ends: Ends) -> str:
    """Say why there is nothing to search for."""
    if ends.found is None:
        return "GOOD and BAD build the same kernel, byte for byte: nothing to bisect"
    values = (median(ends.good.values), median(ends.bad.values))
    (good, bad), unit = numbers(values, unit_of(question.metric.name))
    return (
        f"{question.metric} does not differ between GOOD and BAD: medians {good} and {bad} {unit} over "
        f"{len(ends.good.values)} seeds, difference of the means {interval_text(question.metric, ends.found)}: "
        "nothing to bisect"
    )


def interval_text(metric: Metric, found: Interval) -> str:
    """Format a difference and its interval: -1.52 s (-1.71 to -1.33)."""
    return quantities.interval(found.estimate, found.low, found.high, unit_of(metric.name), signed=True)


def one_of(found: BisectionAnswer) -> str:
    """Say between which commits the first bad one lies, and why it is not known."""
    good, bad = found.bracket
    words = _OBSTACLES | {"undecided": f"they are neither {found.question.walk.old} nor {found.question.walk.new}"}
    why = " and ".join(f"{words[kind]} ({count} tried)" for kind, count in found.obstacles.most_common())
    because = f", because {why}" if why else ""
    return f"one of {len(found.possible)} commits, {short(good)}..{short(bad)}{because}"


_OBSTACLES: dict[Obstacle, str] = {
    "patches": "the lab's patches do not apply",
    "build": "they do not build",
    "run": "their runs fail",
}
