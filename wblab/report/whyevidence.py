"""The evidence of explained pauses: the kernel's functions and the trace's events, as text."""

from functools import partial

from wblab.analysis.runs.run import Run
from wblab.analysis.why.explanations import Explained
from wblab.analysis.why.recorded import Recorded
from wblab.core.units import NS_PER_S
from wblab.report.whytext import sentences, total


def evidence(run: Run, found: list[Explained], bound: str) -> list[str]:
    """Return every pause over a bound with its evidence, as lines."""
    lines: list[str] = []
    for item in found:
        lines += [*sentences(item.explanation, partial(event_text, run, item.recorded)), ""]
    return [*lines, *total([item.explanation for item in found])] if found else [f"no pause over {bound}"]


def event_text(run: Run, recorded: Recorded, rank: int) -> str:
    """Return an event as a line. Its time counts from the run's start."""
    at_s = (int(recorded.sequence.ts_ns[rank]) - run.zero_ns) / NS_PER_S
    return f"{at_s:.6f} s {recorded.sequence.text(rank).partition(' ')[2]}"
