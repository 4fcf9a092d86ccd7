"""The captures of a live run: full traces around its pauses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wblab.analysis.runs.pauses import Window
from wblab.analysis.runs.run import Run
from wblab.lab.captures import read_captures

_LEAST_SHARE = 0.5  # of a window, that a capture must cover to be drawn in it


@dataclass(frozen=True)
class Capture:
    """A capture: its trace, the span it covers, the longest pause in it, and the spans with lost events.

    groups: the paths of control groups, by the tasks in them when it was saved.
    """

    path: Path
    window: Window
    load: str
    pause: Window
    lost: tuple[Window, ...] = ()
    groups: Mapping[int, str] = field(default_factory=dict)

    def known_ns(self, window: Window) -> int:
        """Return how much of a window it covers without lost events on any processor, in ns."""
        inside = Window(max(self.window.start_ns, window.start_ns), min(self.window.end_ns, window.end_ns))
        known_ns, at_ns = max(0, inside.duration_ns), inside.start_ns
        for lost in self.lost:  # in the order of time; spans of several processors may overlap
            start_ns, end_ns = max(at_ns, lost.start_ns), min(inside.end_ns, lost.end_ns)
            if end_ns > start_ns:
                known_ns, at_ns = known_ns - (end_ns - start_ns), end_ns
        return known_ns


def captures(run: Run) -> list[Capture]:
    """Return the captures of a run, in order. Raises InputError for a damaged one."""
    found = [
        Capture(
            run.path / saved.trace,
            Window(saved.start_ns, saved.end_ns),
            saved.load,
            Window(saved.pause_start_ns, saved.pause_end_ns),
            tuple(Window(lost.start_ns, lost.end_ns) for lost in sorted(saved.lost)),
            {task: group for group, tasks in saved.groups.items() for task in tasks},
        )
        for saved in read_captures(run.path)
    ]
    return sorted(found, key=lambda capture: capture.window.start_ns)


def capture_of(run: Run, window: Window) -> Capture | None:
    """Return the capture that covers most of a window, if at least half; else None. Raises InputError."""
    best = max(captures(run), key=lambda capture: capture.known_ns(window), default=None)
    if best is None or best.known_ns(window) < _LEAST_SHARE * window.duration_ns:
        return None
    return best
