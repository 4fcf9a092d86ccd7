"""A shard: one of several equal parts of a study's runs, made where nothing is known of the others."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from wblab.core.errors import InputError

_MOST = 100_000
_TEXT = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})", re.ASCII)
T = TypeVar("T")


@dataclass(frozen=True)
class Shard:
    """Part `number` of `of`, counted from 1."""

    number: int
    of: int

    def __post_init__(self) -> None:
        """Raise InputError unless there is such a part."""
        if not 1 <= self.number <= self.of <= _MOST:
            raise InputError(f"{self} is no part: give I/N, with I from 1 to N, and N at most {_MOST}")

    def part(self, items: Sequence[T], name: Callable[[T], str]) -> list[T]:
        """Return the items of this part, in their order. Digests of names deal them: each part gets all kinds."""
        shuffled = sorted(range(len(items)), key=lambda place: sha256(name(items[place]).encode()).digest())
        return [items[place] for place in sorted(shuffled[self.number - 1 :: self.of])]

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_of(text: str) -> Shard:
    """Read I/N. Raises InputError."""
    if not (found := _TEXT.fullmatch(text)):
        raise InputError(f"{text!r} is no part: give its number and how many there are, such as 3/64")
    return Shard(int(found[1]), int(found[2]))
