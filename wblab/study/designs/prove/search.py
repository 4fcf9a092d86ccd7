"""Which changes to try next on a run, after those tried so far: without whom the pause ends, what shortens it.

Pure: a question and effects give the next changes, and at the end the culprits and the remedies.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from wblab.analysis.why.parties import MOST_NAMED
from wblab.core.spec import Spec
from wblab.study.designs.prove.candidates import SettingCandidate, Wait, candidates
from wblab.study.designs.prove.change import is_phase
from wblab.study.designs.prove.effect import CLEAR, ChangeEffect

_FIRST = 2  # settings that are tried before it is asked who else counts
_HALF = 0.5
_LITTLE = 0.05  # of a pause

Finding = Literal["agrees", "partly", "contradicts", "found", "alone", "undecided"]


@dataclass(frozen=True)
class Without:
    """Leave loads or agents out."""

    names: tuple[str, ...]


Try = Without | SettingCandidate


@dataclass(frozen=True)
class EffectQuestion:
    """A pause: why, and what shortens it? Names are those of loads and agents; among `others` are phases, too.

    stalled: the loads whose pauses have the same cause. named: whom the sentence names as the cause, beside them;
    is_own: it names the load itself, or a child of it; names_limit: it names a limit. mentioned: all whom its reason
    has, also for the rest of the pause.
    likely, others: who else may be left out; the likely ones are tried one by one. disk: whose queue the load waited
    for; empty: that of the load that counts.
    """

    spec: Spec
    load: str
    stalled: tuple[str, ...]
    named: tuple[str, ...]
    likely: tuple[str, ...]
    others: tuple[str, ...]
    wait: Wait
    disk: str
    is_own: bool = False
    names_limit: bool = False
    mentioned: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All who may be left out, in the order of their trials."""
        return tuple(dict.fromkeys((*self.named, *self.likely, *self.others)))


@dataclass
class Search:
    """What was tried for a question, with the effects. Failed trials count as tried, and decide nothing.

    is_brief: settings are not tried, only who counts.
    """

    question: EffectQuestion
    is_brief: bool = False
    effects: dict[Try, ChangeEffect] = field(default_factory=dict)
    _offered: dict[tuple[str, ...], list[SettingCandidate]] = field(default_factory=dict)

    def wanted(self) -> list[Try]:
        """Return what to try next, the most telling first; empty if nothing is left."""
        blame = [item for item in map(_without, self._blame()) if item not in self.effects]
        if self.is_brief:
            return [*blame]
        remedies = self._remedies()
        return [*blame, *remedies[:_FIRST], *self._doubts(), *remedies[_FIRST:]]

    @property
    def culprits(self) -> tuple[str, ...]:
        """The smallest set without which the pause ends or is clearly shorter; empty if none was found."""
        found = [names for names, effect in self._left_out().items() if effect.of_pause in CLEAR]
        return min(found, key=lambda names: (len(names), self._left_out()[names].pause_ns), default=())

    @property
    def finding(self) -> Finding:
        """How the trials stand to the sentence.

        agrees: without those named it ends; or without all others it does not, if it names the stalled load itself;
        or without a limit it does, if it names one. contradicts: the opposite. partly: without those named it is
        somewhat shorter, or ends only if others are left out too, or somebody else counts clearly more, or one who is
        mentioned for the rest; or the load itself is named, and without others it is clearly shorter, or only moves, or
        a phase counts, which made its own work so slow.

        If the sentence names nobody: found, without somebody, or without a limit, it ends; alone, without all others it
        does not end. undecided: too little was tried.
        """
        q = self.question
        counts = self._counts(q.named or q.all) if q.all else False
        if q.named:
            if counts is None:
                return "undecided"
            return ("partly" if self.rivals and self.rivals[0][2] else "agrees") if counts else self._against()
        if self.limits and q.names_limit:
            return "agrees"
        if self.limits or counts:
            return self._found()
        if counts is None:
            return "undecided"
        is_part = bool(self.part) and self._left_out()[self.part].is_part
        return "alone" if not q.is_own else "partly" if is_part else "agrees"

    def _found(self) -> Finding:
        """Return how somebody or a limit that counts stands to a sentence that names no other load."""
        q = self.question
        in_vain = q.names_limit and any(item.is_lift for item, _ in self.tried)  # a program's limit cannot be lifted
        is_beside = bool(self.culprits) and (self.moves(self.culprits) or all(map(is_phase, self.culprits)))
        if q.is_own and not self.limits and (is_beside or self._is_mentioned):
            return "partly"
        return "contradicts" if q.is_own or in_vain else "found"

    @property
    def rivals(self) -> list[tuple[str, ChangeEffect, bool]]:
        """Who counts beside those named, if these count: the name, the effect, and whether it counts clearly more.

        Without one load another may not do its work, so that both count.
        """
        q = self.question
        named = self.without(q.named) if q.named else None
        if named is None or not self._counts(q.named):
            return []
        found = [(name, effect) for name in q.likely if name not in q.named and (effect := self.without((name,)))]
        rivals = [
            (name, effect, named.of_pause != "ends" and effect.pause_ns < _HALF * named.pause_ns)
            for name, effect in found
            if effect.of_pause in CLEAR
        ]
        return sorted(rivals, key=lambda each: each[1].pause_ns)

    def _doubts(self) -> list[Try]:
        """Return each of a few named, and the likely ones beside those named, where these count."""
        named = self.question.named
        if not named or not self._counts(named):
            return []
        others = [(name,) for name in self.question.likely if name not in named]
        each = [(name,) for name in named] if 1 < len(named) <= MOST_NAMED else []
        return [_without(names) for names in self._untried([*each, *others])]

    def _against(self) -> Finding:
        """Return how far those named do not count: partly, if the load itself is named too, and nobody ends it."""
        q, found = self.question, self.culprits
        effect = self.without(q.named)
        is_part = effect is not None and effect.of_pause == "lessens" and (not found or effect.is_part)
        is_own = q.is_own and (not found or self.moves(found))
        is_partly = is_part or is_own or self._is_mentioned or self.joins or bool(set(q.named) & set(found))
        return "partly" if is_partly else "contradicts"

    @property
    def _is_mentioned(self) -> bool:
        """Whether one of those that count is in the sentence, though not as the first cause."""
        return bool(set(self.culprits) & set(self.question.mentioned))

    @property
    def part(self) -> tuple[str, ...]:
        """The fewest without whom a pause that nobody ends is somewhat shorter, as far as it gets; empty for none."""
        found = {names: effect for names, effect in self._left_out().items() if effect.of_pause == "lessens"}
        if self.culprits or not found:
            return ()
        most_ns = min(effect.pause_ns for effect in found.values())
        enough = [names for names, effect in found.items() if effect.pause_ns <= most_ns + _LITTLE * effect.was_ns]
        return min(enough, key=lambda names: (len(names), found[names].pause_ns))

    def moves(self, names: Sequence[str]) -> bool:
        """Whether leaving these out ends the pause at hand, but another pause of the same loads is about as long."""
        effect = self.without(names)
        return effect is not None and effect.of_all == "moves"

    @property
    def joins(self) -> bool:
        """Whether those named count where those that count are left out: with these alone, some of it is left."""
        found, named = self.culprits, self.question.named
        rest, whole = self.without(found), self.without((*found, *(name for name in named if name not in found)))
        if not found or not named or rest is None or whole is None or whole.failure:
            return False
        return rest.of_pause == "shortens" and whole.pause_ns <= max(_HALF * rest.pause_ns, _HALF * whole.bound_ns)

    @property
    def limits(self) -> list[tuple[SettingCandidate, ChangeEffect]]:
        """The limits of the run without which the pause ends or is clearly shorter, the best first."""
        return [(item, effect) for item, effect in self._best() if item.is_lift]

    @property
    def is_minimal(self) -> bool:
        """Whether nobody of the culprits can be spared."""
        return all(self._counts(names) is not None for names in _one_less(self.culprits))

    def without_one(self, names: Sequence[str]) -> list[ChangeEffect]:
        """Return what leaving out all but one of these did, for each one, as far as it was tried; none for one name."""
        found = (self.without(less) for less in _one_less(tuple(names)))
        return [effect for effect in found if effect and not effect.failure]

    @property
    def remedies(self) -> list[tuple[SettingCandidate, ChangeEffect]]:
        """The settings tried that end or clearly shorten the pauses, the best first; without lifted limits."""
        return [(item, effect) for item, effect in self._best() if not item.is_lift]

    @property
    def tried(self) -> list[tuple[SettingCandidate, ChangeEffect]]:
        """All settings tried, in that order."""
        return [(item, effect) for item, effect in self.effects.items() if isinstance(item, SettingCandidate)]

    def without(self, names: Sequence[str]) -> ChangeEffect | None:
        """Return what leaving these out did; None if it was not tried."""
        return self._left_out().get(tuple(sorted(names)))

    def _best(self) -> list[tuple[SettingCandidate, ChangeEffect]]:
        found = [(item, effect) for item, effect in self.tried if effect.of_all in CLEAR]
        return sorted(found, key=lambda each: each[1].rank)

    def _blame(self) -> list[tuple[str, ...]]:
        """Return whom to leave out next: those named; if they do not count, or nobody is named, all others in steps.

        If nobody is named and all others are only a part of it, the likely ones.
        """
        first = self.question.named or self.question.all
        counts = self._counts(first)
        if counts is None:
            return [first] if first else []
        if not counts and not self.question.named:  # nobody ends it: only who is a part is asked
            alone = self.without(first)
            likely = [(name,) for name in self.question.likely]
            return self._untried(likely) if alone and alone.is_part and len(first) > 1 else []
        return [] if counts and self.question.named else next(filter(None, self._steps()), [])

    def _steps(self) -> Iterator[list[tuple[str, ...]]]:
        """Yield what is left of each step: likely ones, these together, all; one less each time; with those named.

        Each step is a whole, so that what is found does not depend on which trial ends first.
        """
        q = self.question
        yield self._untried([(name,) for name in q.likely])
        if len(self.culprits) != 1:
            yield self._untried([q.likely])
            least = q.likely
            if not self._counts(least):
                yield self._untried([q.all])
                least = q.all if self._counts(q.all) else ()
                yield self._untried([(name,) for name in least])
            while least and len(self.culprits) > 1:
                less = [tuple(sorted(names)) for names in _one_less(least)]
                yield self._untried(less)
                counting = [names for names in less if self._counts(names)]
                least = min(counting, key=lambda names: self._left_out()[names].pause_ns, default=())
        if (found := self.culprits) and (rest := self.without(found)) and rest.of_pause == "shortens":
            yield self._untried([(*found, *(name for name in q.named if name not in found))])

    def _remedies(self) -> list[Try]:
        """Return the settings to try next; none for a pause that nobody causes and that no setting is known for."""
        q = self.question
        guess = self.culprits or q.named or (q.likely if q.wait != "other" else ())
        if guess not in self._offered:
            disks = [q.spec.disk_of(load) for load in (*guess, q.load) if load in q.spec.load]
            self._offered[guess] = candidates(q.spec, q.wait, q.disk or disks[0], guess, q.stalled)
        known = {item.settings for item, _ in self.tried}
        return [item for item in self._offered[guess] if item.settings not in known]

    def _untried(self, sets: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        return [names for names in sets if names and _without(names) not in self.effects]

    def _counts(self, names: Sequence[str]) -> bool | None:
        """Whether leaving these out ends or clearly shortens the pause; None if that is not known."""
        found = self.without(names)
        return None if found is None or found.failure else found.of_pause in CLEAR

    def _left_out(self) -> Mapping[tuple[str, ...], ChangeEffect]:
        return {item.names: effect for item, effect in self.effects.items() if isinstance(item, Without)}


def _without(names: Sequence[str]) -> Without:
    return Without(tuple(sorted(names)))


def _one_less(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the sets that lack one of these names; none for a single name."""
    return [tuple(each for each in names if each != name) for name in names] if len(names) > 1 else []
