"""A latency heat map: of the cycles of loads, how many began when and paused for how long.

The longest pause is one cycle, and a quantile is one too. Where waits are of two kinds, a map shows both: B. Gregg,
"Visualizing System Latency", ACM Queue 8(5), 2010. Pauses are on a logarithmic scale. Times are int ns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.pauses import Window, whole
from wblab.analysis.runs.run import Run, Times
from wblab.core.errors import InputError, nearest
from wblab.core.units import NS_PER_MS

Cycles = tuple[Times, Times]  # when each cycle began, and its pause

_LEAST_NS, _PER_DECADE = NS_PER_MS // 10, 4  # a shorter pause is in the lowest row
_COLUMNS = 80
_P99 = 0.99


@dataclass(frozen=True)
class HeatMap:
    """How many cycles there are: counts by span of time and by length of their pause.

    For n spans and m lengths, edges_ns has n + 1 items, lengths_ns m + 1, and counts is n by m. The lowest length
    includes all shorter ones. p99_ns, longest_ns: of all these pauses, 0 without one.
    """

    edges_ns: Times
    lengths_ns: Times
    counts: NDArray[np.int64]
    p99_ns: int
    longest_ns: int

    @property
    def per_length(self) -> NDArray[np.int64]:
        """How many cycles of each length there are."""
        return np.asarray(self.counts.sum(axis=0))


def cycles_of(run: Run, load: str = "") -> Cycles:
    """Return the cycles of an innocent load, or of all of them together; times are those of the run's clock."""
    chosen = [item for item in run.loads if item.load.role == "innocent" and load in ("", item.name)]
    starts = [item.starts_ns for item in chosen]
    return np.concatenate([*starts, _NONE]), np.concatenate([*(item.pauses_ns for item in chosen), _NONE])


_NONE = np.zeros(0, np.int64)


def heat_map(cycles: Iterable[Cycles], window: Window, longest_ns: int = 0) -> HeatMap:
    """Return the map of the cycles that began in a window, of one run or several.

    longest_ns: the lengths reach up to this at least, so that maps can be compared.
    """
    starts_ns, pauses_ns = (np.concatenate([*parts, _NONE]) for parts in zip(*cycles, (_NONE, _NONE), strict=True))
    inside = (window.start_ns <= starts_ns) & (starts_ns < window.end_ns)
    starts_ns, pauses_ns = starts_ns[inside], pauses_ns[inside]
    most_ns = int(pauses_ns.max(initial=0))
    lengths_ns = _lengths(max(most_ns, longest_ns))
    edges_ns = np.linspace(window.start_ns, window.end_ns, _COLUMNS + 1).astype(np.int64)
    counts, _, _ = np.histogram2d(starts_ns, np.maximum(pauses_ns, _LEAST_NS), (edges_ns, lengths_ns))
    p99_ns = int(np.quantile(pauses_ns, _P99)) if len(pauses_ns) else 0
    return HeatMap(edges_ns, lengths_ns, counts.astype(np.int64), p99_ns, most_ns)


def heat_of_runs(groups: Mapping[str, Iterable[Run]], load: str = "") -> dict[str, HeatMap]:
    """Return the map of each group of runs by its title, of times since their loads started, on the same axes.

    load: of this innocent load; by default of all together. Raises InputError for an unknown one.
    """
    found = {title: [(_since(run, load), whole(run).duration_ns) for run in runs] for title, runs in groups.items()}
    end_ns = max((end_ns for of in found.values() for _, end_ns in of), default=1)
    longest_ns = max((int(pauses.max(initial=0)) for of in found.values() for (_, pauses), _ in of), default=0)
    return {
        f"{title}, {len(of)} seed{'s' * (len(of) != 1)}": heat_map(
            (cycles for cycles, _ in of), Window(0, end_ns), longest_ns
        )
        for title, of in found.items()
    }


def _since(run: Run, load: str) -> Cycles:
    if load and load not in (names := innocent([run])):
        raise InputError(f"no innocent load {load!r}{nearest(load, names)}: the runs have {', '.join(names)}")
    starts_ns, pauses_ns = cycles_of(run, load)
    return starts_ns - run.zero_ns, pauses_ns


def _lengths(longest_ns: int) -> Times:
    """Return the edges of lengths, four in each factor of ten; the longest is below the last."""
    steps = max(_PER_DECADE, int(np.floor(_PER_DECADE * np.log10(max(longest_ns, 1) / _LEAST_NS))) + 1)
    return np.round(_LEAST_NS * 10 ** (np.arange(steps + 1) / _PER_DECADE)).astype(np.int64)


def innocent(runs: Sequence[Run]) -> list[str]:
    """Return the names of the innocent loads of some runs, each once."""
    return list(dict.fromkeys(item.name for run in runs for item in run.loads if item.load.role == "innocent"))
