"""Which changes the page to play with asks about: each knob once for practice, and once more to see what was learnt.

From Linux's own settings nearly every change makes freezes shorter, and a reader who has seen that answers without a
thought. So a round has as many of each direction as the runs permit, and the second asks for the opposite of what a
knob did in the first, of runs that the first has not shown.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from wblab.publish.site.explore.positions import Explored

NEVER_S = 0.1  # shorter freezes are none
SAME = 1.25  # a change by less than a fifth is none: from 1 s to 0.8 s, or back
_CLEAR, _EQUAL = 1.5, 1.1  # a question is about a change by the first or more, or by less than the second
_MOST = 0.5  # of all combinations of the other knobs: as many must agree, or there is nothing to know

_Longest = Mapping[tuple[int, ...], float]


@dataclass(frozen=True)
class Question:
    """A change of one knob. at: where it starts. to: the level that the knob is set to. came: shorter -1, longer 1.

    share: of all combinations of the other knobs, how many agree. factor: between both longest freezes, 1 or more.
    """

    at: tuple[int, ...]
    knob: int
    to: int
    came: int
    share: float
    factor: float

    @property
    def moved(self) -> tuple[int, ...]:
        """Return where it ends."""
        return _with(self.at, self.knob, self.to)

    @property
    def fair(self) -> bool:
        """Return whether a reader who knows what the knob does can know the answer."""
        return self.share > _MOST and (self.factor < _EQUAL if self.came == 0 else self.factor >= _CLEAR)

    @property
    def rank(self) -> tuple[float, int, float]:
        """Return how good it is: others agree, it starts near the first position, and the change is plain."""
        return round(self.share, 1), -sum(map(bool, self.at)), min(self.factor, 10.0)


def rounds(found: Explored) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """Return the questions of both rounds: at most one of each knob in each, and none that is not fair."""
    longest = {one.at: one.longest_s for one in found.positions}
    fair = [[one for one in _moves(longest, knob) if one.fair] for knob in range(len(found.knobs))]
    first = _mixed([list(_best(each).values()) for each in fair if each])
    seen = {position for one in first for position in (one.at, one.moved)}
    second = []
    for before in first:
        unseen = _best([one for one in fair[before.knob] if one.at not in seen and one.moved not in seen])
        opposite = unseen.get(-before.came)
        second.append([opposite] if opposite else list(unseen.values()))
    return first, _mixed(list(filter(None, second)))


def _best(asked: Collection[Question]) -> dict[int, Question]:
    """Return the best question of each direction."""
    return {one.came: one for one in sorted(asked, key=lambda one: one.rank)}


def _moves(longest: _Longest, knob: int) -> Iterator[Question]:
    """Yield every change of a knob."""
    levels = {at[knob] for at in longest}
    came = {
        (at, to): _came(before_s, longest[_with(at, knob, to)])
        for at, before_s in longest.items()
        for to in levels - {at[knob]}
    }
    alike = Counter((at[knob], to, direction) for (at, to), (direction, _) in came.items())
    every = Counter((at[knob], to) for at, to in came)
    for (at, to), (direction, factor) in came.items():
        yield Question(at, knob, to, direction, alike[at[knob], to, direction] / every[at[knob], to], factor)


def _with(at: tuple[int, ...], knob: int, to: int) -> tuple[int, ...]:
    return (*at[:knob], to, *at[knob + 1 :])


def _came(before_s: float, after_s: float) -> tuple[int, float]:
    """Return whether a freeze became shorter (-1), longer (1) or neither, and the factor between both."""
    before_s, after_s = (max(one, NEVER_S) for one in (before_s, after_s))
    factor = max(before_s, after_s) / min(before_s, after_s)
    return (0 if factor < SAME else 1 if after_s > before_s else -1), factor


def _mixed(choices: Sequence[Sequence[Question]]) -> tuple[Question, ...]:
    """Return one question of each choice, such that no direction comes more often than it must, then the best ones."""

    def value(asked: Sequence[Question]) -> tuple[float, ...]:
        most = max(Counter(one.came for one in asked).values(), default=0)
        return -most, *map(sum, zip(*(one.rank for one in asked), strict=True))

    return max(product(*choices), key=value)
