"""Kernel stacks of a trace, each distinct one stored once."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

STACKS = "kernel_stack"
Stack = tuple[str, ...]  # functions, innermost first


@dataclass(frozen=True)
class Stacks:
    """The stacks of events. known: each distinct one; the first is empty.

    after: the places in the trace of the events with a stack, in order; ids: the index in `known` of each.
    """

    known: tuple[Stack, ...]
    after: NDArray[np.int64]
    ids: NDArray[np.int64]

    def of(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index in `known` for the events at these places: 0, the empty stack, if none was recorded."""
        if not len(self.after):
            return np.zeros(len(ranks), np.int64)
        at = np.minimum(np.searchsorted(self.after, ranks), len(self.after) - 1)
        return np.where(self.after[at] == ranks, self.ids[at], 0)


def read_stacks(trace: tracecmd.TraceFile, sequence: Sequence) -> Stacks:
    """Read the stacks of a trace. Raises TraceError for a damaged one."""
    if STACKS not in trace.names:
        return Stacks(((),), np.zeros(0, np.int64), np.zeros(0, np.int64))
    events, functions = trace.events(STACKS), _symbols(trace.text("kallsyms")).functions
    known: dict[Stack, int] = {(): 0}
    raw: dict[bytes, int] = {}
    ids = []
    for row in events["caller"]:
        key = row.tobytes()
        if key not in raw:
            raw[key] = known.setdefault(functions(row), len(known))
        ids.append(raw[key])
    after = sequence.ranks_before(events)
    order = np.argsort(after, kind="stable")
    return Stacks(tuple(known), after[order], np.array(ids, np.int64)[order])


@lru_cache(maxsize=1)
def _symbols(text: str) -> tracecmd.Symbols:
    """Return what a trace has as its `symbols`: the same for many runs of a kernel, and long to read."""
    return tracecmd.Symbols(text)
