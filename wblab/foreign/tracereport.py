"""The report on a trace of another machine: why its programs were stalled, as of a run, and when."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from wblab.analysis.runs.lanes import lanes_of
from wblab.foreign.recording import read_recording
from wblab.foreign.traced import Asked, Traced, read_traced
from wblab.report.lanestext import lanes_lines
from wblab.report.quantities import duration
from wblab.report.report import Lines, Report
from wblab.report.whycause import Group
from wblab.report.whyreport import Untried, report
from wblab.report.whytext import evidence


def trace_report(path: Path, asked: Asked, bound_ns: int, *, is_evidence: bool, is_kept: bool) -> Report:
    """Return the report on a trace.dat, or, if `is_kept`, on what a recorder kept. Raises InputError.

    bound_ns: calls that took longer are pauses. is_evidence: all of them with their evidence, in place of the answer.
    """
    with opened(path, asked, is_kept=is_kept) as traced:
        found, bound = traced.explanations(bound_ns), duration(bound_ns)
        if is_evidence:
            return Report("", "", evidence(traced.run, found, bound))
        lanes = Lines(tuple(lanes_lines([lanes_of(traced.run, bound_ns=bound_ns)])), indent=0)
        whole = report(traced.run, found, bound, _Shown(path, traced))
        before = [] if found else [Lines(tuple(_begun_before(traced, bound_ns)), indent=0)]
        blocks = (*before, *whole.blocks, lanes)
        return replace(whole, blocks=blocks, data={"file": path.name, "kind": "trace", **whole.data})


def _begun_before(traced: Traced, bound_ns: int) -> list[str]:
    """Return a line for each task that slept for longer than a bound from before the trace on: it is no known pause."""
    lines, recorded = [], traced.recorded
    for load in traced.run.loads:
        for row in recorded.offcpu.rows(load.pid, recorded.start_ns, recorded.start_ns + 1):
            slept_ns = int(recorded.offcpu.woken_ns[row]) - recorded.start_ns
            if recorded.offcpu.rank[row] >= 0 or slept_ns <= bound_ns:
                continue
            waker, at = int(recorded.offcpu.waker[row]), int(recorded.offcpu.wake_rank[row])
            ended = f"{recorded.name(waker, at)} ended that" if waker > 0 else "then it was woken"
            how_long = f"{load.name} slept already when the trace began, for {duration(slept_ns)} more"
            lines.append(f"{how_long}, what for is not known; {ended if at >= 0 else 'the trace ended before that'}.")
    return lines


@contextmanager
def opened(path: Path, asked: Asked, *, is_kept: bool) -> Iterator[Traced]:
    """Read a trace, or that of a recorder, for the duration of the block. Raises InputError."""
    if is_kept:
        recording = read_recording(path)
        with recording.trace() as trace:
            yield read_traced(trace, asked, recording)
    else:
        yield read_traced(path, asked)


class _Shown(Untried):
    """What is known without trials: nothing of a stranger's machine can be repeated."""

    def __init__(self, path: Path, traced: Traced) -> None:
        super().__init__(traced.run)
        self._path = path

    def after(self, group: Group) -> list[str]:
        """Return the command that shows the evidence."""
        return [f"    wblab why {shlex.quote(str(self._path))} --evidence    # every call with its evidence"]
