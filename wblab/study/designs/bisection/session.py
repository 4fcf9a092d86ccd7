"""git's own bisection, which handles merges and skipped commits."""

import re
from pathlib import Path

from wblab.study.designs.bisection.repository import git
from wblab.study.designs.bisection.search import Verdict

# builtin/bisect.c ends the log with one of these lines.
_FIRST_BAD = re.compile(r"^# first bad commit: \[([0-9a-f]+)\]", re.MULTILINE)
_POSSIBLE = re.compile(r"^# possible first bad commit: \[([0-9a-f]+)\]", re.MULTILINE)
_ONLY_SKIPPED = 2  # exit code of git bisect when only skipped commits are left


class GitSession:
    """A `git bisect` in the lab's work tree, which also holds its state. It checks nothing out."""

    def __init__(self, tree: Path, good: str, bad: str) -> None:
        self._tree = tree
        self._output = git(tree, "bisect", "start", "--no-checkout", bad, good).stdout

    def next(self) -> str | None:
        """Return the commit to try, or None at the end."""
        if self.first_bad or self.possible:
            return None
        return git(self._tree, "rev-parse", "--verify", "BISECT_HEAD").stdout.strip()

    def mark(self, commit: str, verdict: Verdict) -> None:
        """Record a commit's verdict."""
        self._output = git(self._tree, "bisect", verdict, commit, allowed=(0, _ONLY_SKIPPED)).stdout

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
        found = _FIRST_BAD.search(self.log)
        return found[1] if found else None

    @property
    def possible(self) -> list[str]:
        """If only skipped commits are left: all that could be the first bad one."""
        return _POSSIBLE.findall(self.log)
