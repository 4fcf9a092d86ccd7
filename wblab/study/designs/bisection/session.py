"""git's own bisection, which knows about merges and about commits that were skipped."""

import re
from pathlib import Path

from wblab.study.designs.bisection.repository import git
from wblab.study.designs.bisection.search import Verdict

# What builtin/bisect.c writes to the log at the end.
_FIRST_BAD = re.compile(r"^# first bad commit: \[([0-9a-f]+)\]", re.MULTILINE)
_POSSIBLE = re.compile(r"^# possible first bad commit: \[([0-9a-f]+)\]", re.MULTILINE)
_ONLY_SKIPPED = 2  # the exit code of git bisect when nothing else is left


class GitSession:
    """A `git bisect` in a work tree of ours, whose state belongs to that work tree. It checks nothing out."""

    def __init__(self, tree: Path, good: str, bad: str) -> None:
        self._tree = tree
        self._said = git(tree, "bisect", "start", "--no-checkout", bad, good).stdout

    def next(self) -> str | None:
        """Return the commit to try, or None at the end."""
        if self.first_bad or self.possible:
            return None
        return git(self._tree, "rev-parse", "--verify", "BISECT_HEAD").stdout.strip()

    def mark(self, commit: str, verdict: Verdict) -> None:
        """Take in what was found."""
        self._said = git(self._tree, "bisect", verdict, commit, allowed=(0, _ONLY_SKIPPED)).stdout

    @property
    def steps_left(self) -> int:
        """About how many commits are still to be tried, the next one included."""
        said = re.search(r"\(roughly (\d+) steps?\)", self._said)
        return int(said[1]) + 1 if said else 1

    @property
    def log(self) -> str:
        """What `git bisect replay` takes."""
        return git(self._tree, "bisect", "log").stdout

    @property
    def first_bad(self) -> str | None:
        """The first bad commit, once it is known."""
        found = _FIRST_BAD.search(self.log)
        return found[1] if found else None

    @property
    def possible(self) -> list[str]:
        """The commits of which one is the first bad one, where others than those that were skipped are not left."""
        return _POSSIBLE.findall(self.log)
