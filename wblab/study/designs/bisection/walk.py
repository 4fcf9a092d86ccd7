"""Which commits a bisection walks, and the words for their two sides."""

import re
from dataclasses import dataclass
from typing import Any

from wblab.core.errors import InputError

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
