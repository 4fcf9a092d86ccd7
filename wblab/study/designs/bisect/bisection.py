"""The search: which commits are tried, and with how many runs. It is independent of git and of kernels."""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from wblab.analysis.statistics.decision import looks
from wblab.analysis.statistics.intervals import Interval
from wblab.core.errors import InputError, WblabError
from wblab.kernels.choice import PatchError
from wblab.lab.progress import Report
from wblab.study.designs.bisect.judgement import Side, difference, side

# Which commits a bisection walks, and the words for their two sides.

_WORD = re.compile("[a-z][a-z0-9-]{0,29}")
# What git bisect means by these words (builtin/bisect.c).
_TAKEN = frozenset({"bisect", "help", "log", "next", "replay", "reset", "run", "skip", "start", "terms", "view"})


@dataclass(frozen=True)
class Walk:
    """How git walks from the old to the new commit. old, new: words for commits before and after the change.

    first_parent: at merges follow the first parent alone. paths: only commits that touch one of these.
    """

    old: str = "good"
    new: str = "bad"
    first_parent: bool = False
    paths: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: Any) -> "Walk":
        """Read what `asdict` gave. Raises InputError."""
        walk = cls(value["old"], value["new"], value["first_parent"], tuple(value["paths"]))
        if not all(isinstance(text, str) for text in (walk.old, walk.new, *walk.paths)):
            raise InputError("the walk is damaged")
        walk.check()
        return walk

    def check(self) -> None:
        """Raise InputError if git would refuse it."""
        for option, word in (("--term-old", self.old), ("--term-new", self.new)):
            if not _WORD.fullmatch(word) or word in _TAKEN:
                raise InputError(f"{option} {word!r}: give a word of small letters that git bisect does not use itself")
        if self.old == self.new:
            raise InputError(f"--term-old and --term-new are both {self.old!r}: give two words")
        if any(not path or "\0" in path for path in self.paths):
            raise InputError("PATH: an empty path matches nothing: leave it out")

    def word(self, verdict: str) -> str:
        """Return the word for a verdict: good, bad or skip."""
        return {"good": self.old, "bad": self.new}.get(verdict, verdict)

    @property
    def for_start(self) -> list[str]:
        """The options of `git bisect start`."""
        first = ["--first-parent"] if self.first_parent else []
        return [f"--term-old={self.old}", f"--term-new={self.new}", *first]

    @property
    def after(self) -> list[str]:
        """The end of a command of git that walks commits."""
        return ["--", *self.paths] if self.paths else []


PLAIN = Walk()


Verdict = Literal["good", "bad", "skip"]
Obstacle = Literal["patches", "build", "run", "undecided"]
MOST_SKIPPED = 30  # in one bisection; a stretch of commits that cannot be tested may have thousands
Step = Callable[[str], AbstractContextManager[Report]]  # shows one step's progress, under a title


class BisectionLab(Protocol):
    """Builds the kernels of commits and measures them."""

    def executable(self, commit: str, report: Report) -> str:
        """Return a digest of a commit's kernel; build it if necessary. Raises WblabError."""

    def values(self, commit: str, seeds: int, report: Report) -> Sequence[float]:
        """Return the metric of the runs with the seeds 1 to `seeds`. Raises WblabError if a run fails."""


class Session(Protocol):
    """A bisection between a good and a bad commit."""

    def next(self) -> str | None:
        """Return the commit to try, or None at the end."""

    def mark(self, commit: str, verdict: Verdict) -> None:
        """Record a commit's verdict."""

    @property
    def steps_left(self) -> int:
        """Estimate how many commits remain to be tried."""


@dataclass(frozen=True)
class BisectionTrial:
    """One commit that was tried. why: why it was skipped, or how it was judged without own runs.

    obstacle: why it was skipped, as a kind.
    """

    commit: str
    verdict: Verdict
    values: tuple[float, ...] = ()
    why: str = ""
    executable: str = ""
    obstacle: Obstacle | None = None


@dataclass(frozen=True)
class Ends:
    """The two ends of the search: whether they differ, and the difference of their means (bad - good)."""

    good: BisectionTrial
    bad: BisectionTrial
    found: Interval | None  # None: the two kernels are identical, byte for byte

    @property
    def both(self) -> tuple[BisectionTrial, BisectionTrial]:
        """Both ends, the good one first."""
        return self.good, self.bad

    @property
    def differ(self) -> bool:
        """Whether there is something to search for."""
        return self.found is not None and self.found.claim != 0


@dataclass
class BisectionSearch:
    """Tries commits with `lab`, with at most `most` seeds each, and passes each trial to `record`.

    most_skipped: commits that cannot be tested, then it ends.
    """

    lab: BisectionLab
    most: int
    step: Step
    record: Callable[[BisectionTrial], None] = lambda trial: None
    most_skipped: int = MOST_SKIPPED
    trials: list[BisectionTrial] = field(default_factory=list)

    def ends(self, good: str, bad: str) -> Ends:
        """Measure both ends with more and more seeds until they clearly differ. Raises WblabError."""
        built = {}
        for word, commit in (("GOOD", good), ("BAD", bad)):
            with self.step(f"{word}, {short(commit)}") as report:
                try:
                    built[commit] = self.lab.executable(commit, report)
                except WblabError as error:
                    raise WblabError(f"{word}, {short(commit)}, cannot be built: {error}") from None
        values: dict[str, tuple[float, ...]] = {good: (), bad: ()}
        found = None
        if built[good] != built[bad]:
            values, found = self._measure_ends(good, bad)
        trials = (
            BisectionTrial(good, "good", values[good], "", built[good]),
            BisectionTrial(bad, "bad", values[bad], "", built[bad]),
        )
        for trial in trials:
            self.record(trial)
        return Ends(*trials, found)

    def _measure_ends(self, good: str, bad: str) -> tuple[dict[str, tuple[float, ...]], Interval]:
        plan = looks(self.most)
        for seeds in plan:
            values = {}
            for word, commit in (("GOOD", good), ("BAD", bad)):
                with self.step(f"{word}, {short(commit)}") as report:
                    report(None, f"running {seeds} seeds")
                    try:
                        values[commit] = tuple(self.lab.values(commit, seeds, report))
                    except WblabError as error:
                        raise WblabError(f"{word}, {short(commit)}, cannot be measured: {error}") from None
            found = difference(values[good], values[bad], plan)
            if found.claim:
                break
        return values, found

    def run(self, session: Session, ends: Ends) -> None:
        """Try the commits of a session until it ends, or until too many are skipped."""
        skipped = 0
        while skipped < self.most_skipped and (commit := session.next()):
            left = session.steps_left
            with self.step(f"{short(commit)}, about {left} step{'s' if left != 1 else ''} left") as report:
                trial = self._try(commit, ends, report)
            session.mark(commit, trial.verdict)
            self.trials.append(trial)
            self.record(trial)
            skipped += trial.verdict == "skip"

    def _try(self, commit: str, ends: Ends, report: Report) -> BisectionTrial:
        try:
            executable = self.lab.executable(commit, report)
        except WblabError as error:
            obstacle: Obstacle = "patches" if isinstance(error, PatchError) else "build"
            return BisectionTrial(commit, "skip", (), str(error), obstacle=obstacle)
        for known in (ends.good, ends.bad, *self.trials):
            if known.executable == executable and known.verdict != "skip":
                why = f"the same kernel as {short(known.commit)}"
                return BisectionTrial(commit, known.verdict, known.values, why, executable)
        try:
            verdict, values = self._judge(commit, ends, report)
        except WblabError as error:
            return BisectionTrial(commit, "skip", (), str(error), executable, "run")
        if verdict is None:
            why = f"neither good nor bad after {len(values)} seeds"
            return BisectionTrial(commit, "skip", values, why, executable, "undecided")
        return BisectionTrial(commit, verdict, values, "", executable)

    def _judge(self, commit: str, ends: Ends, report: Report) -> tuple[Side | None, tuple[float, ...]]:
        """Compare a commit with both ends, which get at least as many runs as the commit."""
        verdict: Side | None = None
        values: tuple[float, ...] = ()
        plan = looks(self.most)
        for seeds in plan:
            report(None, f"running {seeds} seeds")
            values = tuple(self.lab.values(commit, seeds, report))
            good, bad = (
                self.lab.values(end.commit, max(seeds, len(end.values)), report) for end in (ends.good, ends.bad)
            )
            if verdict := side(values, good, bad, plan):
                break
        return verdict, values


def short(commit: str) -> str:
    """Return the first 12 digits of a commit's hash."""
    return commit[:12]
