"""git's own bisection, which handles merges and skipped commits."""

import re
from pathlib import Path

from wblab.kernels.git import git
from wblab.study.designs.bisection.search import Verdict
from wblab.study.designs.bisection.walk import PLAIN, Walk

# builtin/bisect.c ends the log with one of these lines; {} is the word for bad.
_FIRST_BAD, _POSSIBLE = r"^# first {} commit: \[([0-9a-f]+)\]", r"^# possible first {} commit: \[([0-9a-f]+)\]"
_ONLY_SKIPPED = 2  # exit code of git bisect when only skipped commits are left


class GitSession:
    """A `git bisect` in the lab's work tree, which also holds its state. It checks nothing out."""

    def __init__(self, tree: Path, good: str, bad: str, walk: Walk = PLAIN) -> None:
        self._tree, self._walk = tree, walk
        start = [*walk.for_start, "--no-checkout", bad, good, *walk.after]
        self._output = git(tree, "bisect", "start", *start).stdout

    def next(self) -> str | None:
        """Return the commit to try, or None at the end."""
        if self.first_bad or self._only_skipped:
            return None
        return git(self._tree, "rev-parse", "--verify", "BISECT_HEAD").stdout.strip()

    def mark(self, commit: str, verdict: Verdict) -> None:
        """Record a commit's verdict."""
        self._output = git(self._tree, "bisect", self._walk.word(verdict), commit, allowed=(0, _ONLY_SKIPPED)).stdout

    @property
    def steps_left(self) -> int:
        """Estimate how many commits remain to be tried, the next one included."""
        roughly = re.search(r"\(roughly (\d+) steps?\)", self._output)
        return int(roughly[1]) + 1 if roughly else 1

    @property
    def log(self) -> str:
        """The log so far, input of `git bisect replay`."""
        return git(self._tree, "bisect", "log").stdout

    @property
    def first_bad(self) -> str | None:
        """The first bad commit, once it is known."""
        found = re.search(_FIRST_BAD.format(self._walk.new), self.log, re.MULTILINE)
        return found[1] if found else None

    @property
    def _only_skipped(self) -> list[str]:
        return re.findall(_POSSIBLE.format(self._walk.new), self.log, re.MULTILINE)

    @property
    def possible(self) -> list[str]:
        """If the first bad commit is not known: all that could be it, oldest first."""
        if self.first_bad:
            return []
        goods = ["--not", f"--glob=refs/bisect/{self._walk.old}-*"]
        first = ["--first-parent"] if self._walk.first_parent else []
        listed = ["--topo-order", "--reverse", *first, f"refs/bisect/{self._walk.new}", *goods, *self._walk.after]
        return git(self._tree, "rev-list", *listed).stdout.split()
