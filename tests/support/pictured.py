"""A run whose mw1 is stalled once, and the page cache that its trace would show.

Dirty pages rise to the limit, and one task is throttled there.
"""

from types import SimpleNamespace

import numpy as np

from wblab.analysis.runs.pagecache import DirtiedPages, DirtyState, Throttling

MIB = 1 << 20
MS = 10**6
S = 1000 * MS
MW1 = [0, 100 * MS, 200 * MS, 1700 * MS, 1800 * MS]
L1 = [0, 5000 * MS + 1, 5100 * MS, 8000 * MS]
BOUNDARIES = {"c1": [0, 50 * MS, 100 * MS], "w1": [0, 50 * MS], "mw1": MW1, "l1": L1}


def dirty_state(count=100, span_ns=8 * S):
    steps = np.arange(count)
    full = np.full(count, MIB, np.int64)
    return DirtyState(
        ts_ns=steps * span_ns // count,
        background=10 * full,
        threshold=20 * full,
        limit=np.where(steps < count // 2, 27, 22) * full,
        dirty=np.minimum(steps, 15) * full,
        writeback=np.minimum(steps // 2, 12) * full,
    )


def throttling(count=100, span_ns=8 * S):
    steps = np.arange(count)
    full = np.full(count, MIB, np.int64)
    return Throttling(
        ts_ns=steps * span_ns // count,
        pid=np.where(steps % 3, 30, 31),
        task=np.where(steps % 3, "l1", "mw1").astype(object),
        pause_ns=np.where(steps % 2, 200_000_000, -10_000_000),
        paused_ns=np.zeros(count, np.int64),
        task_rate=np.where(steps % 2, 0, 4 * MIB),
        base_rate=np.where(steps < count // 2, 8 * MIB, MIB),
        limit=27 * full,
        setpoint=21 * full,
        dirty=np.minimum(10 + steps, 27) * full,
        wb_setpoint=20 * full,
        wb_dirty=np.minimum(10 + steps, 27) * full,
        disk=np.full(count, "", object),
    )


def page_cache():
    """Return the page cache for a timeline."""
    state, decisions = dirty_state(), throttling()
    times = {"global_dirty_state": state.ts_ns, "balance_dirty_pages": decisions.ts_ns}
    return SimpleNamespace(
        counts={name: len(values) for name, values in times.items()},
        times_ns=lambda name: times.get(name, np.zeros(0, np.int64)),
        dirty_state=state,
        throttling=decisions,
        dirtied=DirtiedPages(np.zeros(0, np.int64), *[np.zeros(0, object)] * 2, np.zeros(0, np.int64)),
        lost_ns=((2 * S, 3 * S),),
        disks={},
    )
