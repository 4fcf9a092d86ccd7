"""Spans of a run, for close-ups."""

from dataclasses import dataclass

import numpy as np

from wblab.analysis.runs.run import LoadCycles, Run
from wblab.core.errors import InputError, nearest
from wblab.core.units import NS_PER_S

LONGEST = "longest"
_MARGIN = 0.4  # of a pause, before and after it
_LEAST_MARGIN_NS = NS_PER_S // 2


@dataclass(frozen=True)
class Window:
    """A span of a run, in ns of the guest's clock."""

    start_ns: int
    end_ns: int

    @property
    def duration_ns(self) -> int:
        """Its length in ns."""
        return self.end_ns - self.start_ns


def whole(run: Run) -> Window:
    """Return the span in which the loads were measured."""
    return Window(run.zero_ns, max(int(item.boundaries_ns[-1]) for item in run.loads))


def between(run: Run, start_ns: int | None, end_ns: int | None) -> Window:
    """Return a span given in ns since the loads started; None stands for the start or the end of the run.

    Raises InputError for a span outside of the run.
    """
    all_ = whole(run)
    start = all_.start_ns if start_ns is None else run.zero_ns + start_ns
    end = all_.end_ns if end_ns is None else run.zero_ns + end_ns
    if start >= all_.end_ns or end <= all_.start_ns:
        last_s = all_.duration_ns / NS_PER_S
        raise InputError(f"the run {run.name} lasts {last_s:.2f} s: --from and --to must lie within that")
    if start >= end:
        said = " and ".join(f"{(time_ns - run.zero_ns) / NS_PER_S:g} s" for time_ns in (start, end))
        raise InputError(f"there is no time between {said}: --from must be before --to")
    return Window(max(start, all_.start_ns), min(end, all_.end_ns))


def around(run: Run, which: str) -> Window:
    """Return the span around the longest pause of the innocent loads ("longest") or of one load.

    Raises InputError for an unknown load.
    """
    item = longest_paused(run) if which == LONGEST else _named(run, which)
    index = int(item.pauses_ns.argmax())
    start_ns, end_ns = int(item.boundaries_ns[index]), int(item.boundaries_ns[index + 1])
    margin_ns = max(_LEAST_MARGIN_NS, int(_MARGIN * (end_ns - start_ns)))
    all_ = whole(run)
    return Window(max(all_.start_ns, start_ns - margin_ns), min(all_.end_ns, end_ns + margin_ns))


def cycles_in(item: LoadCycles, window: Window | None) -> tuple[int, int]:
    """Return the range of a load's cycles that overlap a window: the first, and the one after the last."""
    if window is None:
        return 0, len(item.durations_ns)
    first = int(np.searchsorted(item.boundaries_ns, window.start_ns, side="right")) - 1
    last = int(np.searchsorted(item.boundaries_ns, window.end_ns))
    return max(first, 0), min(last, len(item.durations_ns))


def longest_paused(run: Run) -> LoadCycles:
    """Return the innocent load with the longest pause; control loads count only if there are no others."""
    innocent = [item for item in run.loads if item.load.role == "innocent"]
    controls = [item for item in run.loads if item.load.role == "control"]
    candidates = innocent or controls or list(run.loads)
    return max(candidates, key=lambda item: int(item.pauses_ns.max()))


def _named(run: Run, name: str) -> LoadCycles:
    names = [item.name for item in run.loads]
    if name not in names:
        hint = nearest(name, [*names, LONGEST])
        raise InputError(f"no load {name!r} in {run.name}{hint}: give {LONGEST!r} or one of {', '.join(names)}")
    return run.load(name)
