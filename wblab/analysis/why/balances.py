"""The kernel's decisions to throttle writers, and which limit each of them was for.

The kernel says it in the event balance_dirty_pages (mm/page-writeback.c): the counts of the limit that it chose, which
is the machine's or a control group's, and the device's share of them.
"""

from dataclasses import dataclass

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.runs.names import field_name
from wblab.analysis.runs.places import previous
from wblab.analysis.runs.throttling import position_ratio
from wblab.analysis.why.flushed import NOBODY
from wblab.analysis.why.requests import device_numbers

_BALANCE, _STATE = "balance_dirty_pages", "global_dirty_state"
FIELDS = {  # of `Balances`, and what the event calls them
    "group": "cgroup_ino",
    "limit": "limit",
    "setpoint": "setpoint",
    "dirty": "dirty",
    "wb_setpoint": "wb_setpoint",
    "wb_dirty": "wb_dirty",
    "rate": "task_ratelimit",
    "base_rate": "dirty_ratelimit",
}
_STATES = ("dirty_thresh", "background_thresh", "dirty_limit", "nr_dirty", "nr_writeback")
_ROOTS = (0, 1)  # cgroup_ino of the root group; 0 on kernels that do not say it
_NEAR, _NEAR_DIRTY, _INEXACT = 1 / 64, 1 / 16, 128  # shares of a count, and pages that counters of processors may miss
_HALF = 0.5

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Balances:
    """The kernel's decisions to throttle, in order of task and place in the trace. Counts are pages, rates KiB/s.

    The counts are of the limit that it chose; but of a group many kernels, such as 6.1, have the machine's limit here.
    threshold, background, hard, whole: the machine's thresholds, hard limit and dirty pages as the same task saw them
    just before; 0 if not traced.
    """

    page_bytes: int
    pid: Numbers
    rank: Numbers
    device: Numbers
    group: Numbers
    limit: Numbers
    setpoint: Numbers
    dirty: Numbers
    wb_setpoint: Numbers
    wb_dirty: Numbers
    rate: Numbers
    base_rate: Numbers
    threshold: Numbers
    background: Numbers
    hard: Numbers
    whole: Numbers

    def before(self, pid: int, rank: int) -> int:
        """Return the row of a task's last decision before a place in the trace; -1 if none."""
        first, last = np.searchsorted(self.pid, [pid, pid + 1]).tolist()
        row = first + int(np.searchsorted(self.rank[first:last], rank)) - 1
        return row if row >= first else NOBODY

    def is_of_group(self, row: int) -> bool:
        """Whether the counts are a control group's: those of its cgroup, and not the machine's."""
        if int(self.group[row]) in _ROOTS or not self.hard[row]:
            return False
        dirty, whole, free = int(self.dirty[row]), int(self.whole[row]), self._free(row)
        near = self._has_limit_of_machine(row) and abs(dirty - whole) <= _NEAR_DIRTY * whole + _INEXACT
        return not (near and abs(self._ceiling(row) - free) <= _NEAR_DIRTY * free + _INEXACT)

    def is_free(self, row: int) -> bool:
        """Whether these counts alone would not throttle: they are below dirty_freerun_ceiling()."""
        return bool(self.dirty[row] < self._ceiling(row))

    def is_strict(self, device: int) -> bool:
        """Whether a device has a strict limit of its own: it throttled a task that nothing else would have."""
        rows = (self.device == device) & (self.dirty < 2 * self.setpoint - self.limit)
        return bool(np.any(rows))

    def slows_more(self, row: int) -> bool:
        """Whether the device's share slows the writer more than these counts do (wb_position_ratio)."""
        if self.dirty[row] >= self.limit[row] or self.wb_dirty[row] <= self.wb_setpoint[row]:
            return False
        whole = float(position_ratio(self.dirty[row], self.setpoint[row], self.limit[row]))
        return float(self.rate[row]) < _HALF * whole * float(self.base_rate[row])

    def share(self, row: int) -> int:
        """Return the device's part of the threshold, in pages: its own limit, if it has one."""
        threshold = int(self.threshold[row]) if not self.is_of_group(row) and self.hard[row] else self.size(row)
        return int(self.wb_setpoint[row]) * (threshold + 1) // max(int(self.setpoint[row]), 1)

    def size(self, row: int) -> int:
        """Return the limit, in pages: of a group, where the kernel says the machine's, what follows from the ceiling.

        Both of a group's thresholds are the same shares of its memory as the machine's are of the machine's.
        """
        if not self.is_of_group(row) or not self._has_limit_of_machine(row) or not self._free(row):
            return int(self.limit[row])
        return max(self._ceiling(row), 0) * int(self.threshold[row]) // self._free(row)

    def _ceiling(self, row: int) -> int:
        """Return below how many pages nobody is throttled, by the setpoint, which is half way to the limit."""
        return int(2 * self.setpoint[row] - self.limit[row])

    def _free(self, row: int) -> int:
        """Return the machine's own such ceiling; 0 if it was not traced."""
        return int(self.threshold[row] + self.background[row]) // 2

    def _has_limit_of_machine(self, row: int) -> bool:
        return bool(abs(int(self.limit[row] - self.hard[row])) <= _NEAR * self.hard[row])


def read_balances(trace: tracecmd.TraceFile, sequence: Sequence) -> Balances:
    """Read the kernel's decisions to throttle."""
    if _BALANCE not in trace.names:
        return Balances(trace.info.page_bytes, *[np.zeros(0, np.int64)] * 15)
    events = trace.events(_BALANCE)
    pid, rank = events.pid.astype(np.int64), sequence.ranks(events)
    state = dict.fromkeys(_STATES, np.zeros(len(pid), np.int64))
    if _STATE in trace.names:
        states = trace.events(_STATE)
        at = previous(pid, rank, states.pid.astype(np.int64), sequence.ranks(states))
        state = {name: np.append(states[name].astype(np.int64), 0)[at] for name in state}
    order = np.lexsort((rank, pid))

    def column(name: str) -> Numbers:
        known = field_name(events, name)
        return (events[known].astype(np.int64) if known else np.zeros(len(pid), np.int64))[order]

    return Balances(
        pid=pid[order],
        rank=rank[order],
        device=device_numbers(events, "bdi")[order],
        **{field: column(name) for field, name in FIELDS.items()},
        threshold=state["dirty_thresh"][order],
        background=state["background_thresh"][order],
        hard=np.maximum(state["dirty_thresh"], state["dirty_limit"])[order],
        whole=(state["nr_dirty"] + state["nr_writeback"])[order],
        page_bytes=trace.info.page_bytes,
    )
