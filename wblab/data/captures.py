"""The captures of a live run: each a trace of everything, around a pause."""

from dataclasses import dataclass
from pathlib import Path

from wblab.data.run import Run
from wblab.data.window import Window
from wblab.lab.captures import read_captures

_LEAST_SHARE = 0.5  # of a window, that a capture must cover to be drawn in it


@dataclass(frozen=True)
class Capture:
    """One of them: its trace, the span that it covers, and the longest pause in it."""

    path: Path
    window: Window
    load: str
    pause: Window


def captures(run: Run) -> list[Capture]:
    """Return the captures of a run, in their order. Raises InputError for one that is damaged."""
    found = [
        Capture(
            run.path / saved.trace,
            Window(saved.start_ns, saved.end_ns),
            saved.load,
            Window(saved.pause_start_ns, saved.pause_end_ns),
        )
        for saved in read_captures(run.path)
    ]
    return sorted(found, key=lambda capture: capture.window.start_ns)


def capture_of(run: Run, window: Window) -> Capture | None:
    """Return the capture that covers the most of a window, if it is half of it; else None. Raises InputError."""
    best = max(captures(run), key=lambda capture: _shared_ns(capture.window, window), default=None)
    if best is None or _shared_ns(best.window, window) < _LEAST_SHARE * window.duration_ns:
        return None
    return best


def _shared_ns(one: Window, other: Window) -> int:
    return max(0, min(one.end_ns, other.end_ns) - max(one.start_ns, other.start_ns))
