"""The phases of a journal's commits, in the order of fs/jbd2/commit.c."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

# Each phase begins with its event. The transaction is locked until its last handle is closed; then its data are
# written, then its blocks and the commit record.
_BEGINS = {
    "jbd2_start_commit": "starting",
    "jbd2_commit_locking": "locking",
    "jbd2_commit_flushing": "flushing",
    "jbd2_commit_logging": "logging",
    "jbd2_end_commit": "",
}


@dataclass(frozen=True)
class Phases:
    """The begins and names of the phases of each journal's task, in order; an empty name ends a commit."""

    starts_ns: dict[int, NDArray[np.int64]]
    names: dict[int, list[str]]

    def of(self, pid: int, start_ns: int, end_ns: int) -> Iterator[tuple[str, int, int]]:
        """Yield a task's phases in a span of time, with begin and end in ns; the name is empty outside a commit."""
        starts = self.starts_ns.get(pid, np.zeros(0, np.int64))
        row = int(np.searchsorted(starts, start_ns, side="right"))
        at, name = start_ns, self.names[pid][row - 1] if row else ""
        while row < len(starts) and starts[row] < end_ns:
            yield name, at, int(starts[row])
            at, name = int(starts[row]), self.names[pid][row]
            row += 1
        yield name, at, end_ns


def read_phases(trace: tracecmd.TraceFile, sequence: Sequence) -> Phases:
    """Read the phases of all journals of a trace; empty if it has no such events."""
    rows: dict[int, list[tuple[int, int, str]]] = {}
    for event, name in _BEGINS.items():
        if event in trace.names:
            events = trace.events(event)
            columns = (events.pid, sequence.ranks(events), events.ts_ns)
            for pid, rank, ts_ns in zip(*(column.tolist() for column in columns), strict=True):
                rows.setdefault(pid, []).append((rank, ts_ns, name))
    ordered = {pid: sorted(found) for pid, found in rows.items()}
    return Phases(
        {pid: np.array([ts_ns for _, ts_ns, _ in found], np.int64) for pid, found in ordered.items()},
        {pid: [name for _, _, name in found] for pid, found in ordered.items()},
    )
