"""What a change did to a pause: the pause at hand, and the longest one of the stalled loads meanwhile."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from wblab.analysis.runs.difference import loads_differ_s
from wblab.analysis.runs.run import Run, guest_spec
from wblab.analysis.why.explain import Explanation
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S
from wblab.study.designs.prove.trial import loads_start_ns

# What is kept of a trial: the pauses of its loads. A run directory takes megabytes, and a trial asks no more of it.

Pause = tuple[int, int, int]  # the start and the end of its cycle, and its length

_SHORTEST_NS = 1_000_000
_MOST = 2000  # pauses of a load, the longest; a load that sleeps 50 ms has so many in 100 s
_NEVER = -1


@dataclass(frozen=True)
class RunPauses:
    """A run's pauses over 1 ms, by load, in the order of time. Times are ns since the known run's start.

    end_ns: when its loads were stopped; a pause that reaches until then may have been cut short. differs_ns: the first
    time at which the run and the known one differ; -1 if they do not. cycles: how many cycles each load had completed
    by `end_ns`.
    """

    end_ns: int
    differs_ns: int
    pauses: Mapping[str, tuple[Pause, ...]]
    cycles: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        pauses, cycles = dict(self.pauses), dict(self.cycles)
        return {"end_ns": self.end_ns, "differs_ns": self.differs_ns, "pauses": pauses, "cycles": cycles}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RunPauses":
        """Read the output of `to_json`. Raises InputError for anything else."""
        try:
            pauses = {str(name): tuple(map(_pause, found)) for name, found in value["pauses"].items()}
            cycles = {str(name): _whole(number) for name, number in value["cycles"].items()}
            return cls(_whole(value["end_ns"]), _whole(value["differs_ns"]), pauses, cycles)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(f"it is not the row of a trial: {error}") from None

    def longest(self, loads: Iterable[str], until_ns: int) -> Pause:
        """Return the longest pause of some loads that begins before a time; of length 0 if there is none."""
        found = (item for load in loads for item in self.pauses.get(load, ()) if item[0] < until_ns)
        return max(found, key=lambda item: item[2], default=(0, 0, 0))


def row_of(run: Run, known: Run) -> RunPauses:
    """Return what is kept of a run that repeats a known one with a change. Raises InputError if it cannot be read."""
    differs_s = loads_differ_s(known, run)
    moved_ns = loads_start_ns(run) - loads_start_ns(known)  # by a multiple of 5 s, if the disk's set-up took longer
    zero_ns = known.zero_ns + moved_ns
    pauses = {}
    for item in run.loads:
        long = np.flatnonzero(item.pauses_ns > _SHORTEST_NS)
        longest = np.sort(long[np.argsort(-item.pauses_ns[long], kind="stable")][:_MOST])
        columns = (item.starts_ns - zero_ns, item.boundaries_ns[1:] - zero_ns, item.pauses_ns)
        pauses[item.name] = tuple(zip(*(column[longest].tolist() for column in columns), strict=True))
    last_ns = max(int(item.boundaries_ns[-1]) for item in run.loads)
    end_ns = min(last_ns, loads_start_ns(run) + guest_spec(run).time_limit) - zero_ns
    return RunPauses(
        end_ns=end_ns,
        differs_ns=_NEVER if differs_s is None else int(differs_s * NS_PER_S) - known.zero_ns,
        pauses=pauses,
        cycles=cycles_of(run, zero_ns + end_ns),
    )


def cycles_of(run: Run, until_ns: int) -> dict[str, int]:
    """Return how many cycles each load had completed by a time of the guest's clock."""
    ended = {item.name: int(np.searchsorted(item.boundaries_ns, until_ns, "right")) - 1 for item in run.loads}
    return {name: max(0, number) for name, number in ended.items()}


def _pause(value: Any) -> Pause:
    start, end, pause = map(_whole, value)
    return start, end, pause


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is not a whole number")
    return value


# ends: at most a tenth of the pause is left, or less than the bound; shortens: at most half; lessens: less than 95 %.
Verdict = Literal["ends", "shortens", "lessens", "moves", "unchanged", "lengthens", "failed"]

MOST = 0.95  # of its work: a load that did more paid little
_END, _CLEAR, _UNCHANGED = 0.1, 0.5, 0.05
_PART = 0.75
_CUT_NS = 1_000_000  # a pause that ends this close to the trial's end may have been cut short


@dataclass(frozen=True)
class ChangeEffect:
    """The effect of a change. pause_ns: what is left of the pause at hand; was_ns: its length in the known run.

    What is left is the load's pause that overlaps the known one for more than half of its own time, or the longest
    overlap of another pause with it.

    longest_ns, longest_was_ns: the longest pause of the stalled loads from their start to the trial's end, now and in
    the known run. is_cut: that pause still went on at the trial's end, and is over the bound. failure: why there is no
    effect. shares: how much loads that write much did by then, as a share of what they did in the known run.
    """

    was_ns: int
    bound_ns: int
    pause_ns: int = 0
    longest_ns: int = 0
    longest_was_ns: int = 0
    is_cut: bool = False
    failure: str = ""
    shares: tuple[tuple[str, float], ...] = ()

    @property
    def of_pause(self) -> Verdict:
        """The verdict on the pause at hand alone, by which a culprit is judged."""
        return "failed" if self.failure else _verdict(self.was_ns, self.pause_ns, self.bound_ns)

    @property
    def is_part(self) -> bool:
        """Whether the change took a quarter of the pause at hand or more."""
        return self.pause_ns <= _PART * self.was_ns

    @property
    def of_all(self) -> Verdict:
        """The verdict on the pause and on the longest one of the stalled loads, by which a remedy is judged.

        If another pause was longer already, it must not become longer.
        """
        if self.failure or self.of_pause not in CLEAR:
            return self.of_pause
        if self.longest_was_ns > (1 + _UNCHANGED) * self.was_ns:
            return self.of_pause if self.longest_ns <= (1 + _UNCHANGED) * self.longest_was_ns else "moves"
        found = _verdict(self.was_ns, self.left_ns, self.bound_ns)
        return found if found in CLEAR else "moves"

    @property
    def is_dear(self) -> bool:
        """Whether some load that writes much did clearly less."""
        return any(share < MOST for _, share in self.shares)

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """How good a remedy it is: the least is the best. What ends pauses comes first, then what costs little."""
        return self.of_all != "ends", self.is_dear, self.left_ns

    @property
    def left_ns(self) -> int:
        """The longest pause that is left."""
        return max(self.pause_ns, self.longest_ns)


CLEAR: tuple[Verdict, ...] = ("ends", "shortens")


def effect(
    known: RunPauses, trial: RunPauses, pause: Explanation, stalled: Sequence[str], bound_ns: int
) -> ChangeEffect:
    """Return the effect of a trial's change. stalled: the loads whose pauses have the same cause as `pause`."""
    _, longest_end_ns, longest_ns = trial.longest(stalled, trial.end_ns)
    return ChangeEffect(
        was_ns=pause.pause_ns,
        bound_ns=bound_ns,
        pause_ns=max((_left(item, pause) for item in trial.pauses.get(pause.load, ())), default=0),
        longest_ns=longest_ns,
        longest_was_ns=known.longest(stalled, trial.end_ns)[2],
        is_cut=longest_ns > bound_ns and longest_end_ns >= trial.end_ns - _CUT_NS,
    )


def _left(item: Pause, known: Explanation) -> int:
    """Return how much of a known pause is left as this one: all of it if it is the same, else the overlap."""
    start, end, pause = item
    shared_ns = min(end, known.end_ns) - max(start, known.start_ns)
    if shared_ns <= 0:
        return 0
    return pause if 2 * shared_ns > end - start else min(pause, shared_ns)


def _verdict(was_ns: int, left_ns: int, bound_ns: int) -> Verdict:
    if left_ns <= max(_END * was_ns, min(bound_ns, _CLEAR * was_ns)):
        return "ends"
    if left_ns <= _CLEAR * was_ns:
        return "shortens"
    if abs(left_ns - was_ns) <= _UNCHANGED * was_ns:
        return "unchanged"
    return "lessens" if left_ns < was_ns else "lengthens"
