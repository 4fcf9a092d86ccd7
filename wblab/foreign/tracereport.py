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
from wblab.report.whyanswer import Group
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
        return replace(whole, blocks=(*whole.blocks, lanes), data={"file": path.name, "kind": "trace", **whole.data})


@contextmanager
def opened(path: Path, asked: Asked, *, is_kept: bool) -> Iterator[Traced]:
    """Read a trace, or that of a recorder, for the duration of the block. Raises InputError."""
    if is_kept:
        recording = read_recording(path)
        with recording.trace() as trace:
            yield read_traced(trace, asked, recording.devices, path)
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
