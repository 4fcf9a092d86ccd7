"""What is kept of a trial: the pauses of its loads. A run directory takes megabytes, and a trial asks no more of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.run import Run, guest_spec
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S
from wblab.study.designs.counterfactual.trial import loads_start_ns

Pause = tuple[int, int, int]  # the start and the end of its cycle, and its length

_SHORTEST_NS = 1_000_000
_MOST = 2000  # pauses of a load, the longest; a load that sleeps 50 ms has so many in 100 s
_NEVER = -1


@dataclass(frozen=True)
class Row:
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
    def from_json(cls, value: Mapping[str, Any]) -> "Row":
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


def row_of(run: Run, known: Run) -> Row:
    """Return what is kept of a run that repeats a known one with a change. Raises InputError if it cannot be read."""
    differences = [] if run is known else first_differences(known, run)
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
    return Row(
        end_ns=end_ns,
        differs_ns=int(differences[0].at_s * NS_PER_S) - known.zero_ns if differences else _NEVER,
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
