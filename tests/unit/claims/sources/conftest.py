"""Synthetic samples for checks, from pauses and states."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from wblab.analysis.runs.pagecache import DirtyState, Throttling
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.claims.sources.sample import Calls, Sample, Traced
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

MIB, MS, S = 1 << 20, 10**6, 10**9
END_S = 60
PIDS = {"c1": 10, "w1": 11, "mw1": 12, "l1": 13, "l2": 14}


def cycles(load, pauses_s):
    """Return boundaries of cycles up to END_S. A pause goes into the first cycle that begins at its time or later."""
    waiting = sorted(pauses_s.items())
    times, number = [0], 0
    while times[-1] < END_S * S:
        pause = 0
        if waiting and times[-1] >= waiting[0][0] * S:
            pause = int(waiting.pop(0)[1] * S)
        times.append(times[-1] + (load.idle_ns(number) or 100 * MS) + pause)
        number += 1
    return np.array(times, np.int64)


def states(*, start=126, falls_s=25, full_s=6.5, drift=0.0):
    """Return states, ten a second: a limit of `start` per cent until `falls_s`, full from `full_s` on, a drift."""
    ts = np.arange(END_S * 10) * (S // 10)
    threshold = (20 * MIB * (1 - drift * ts / ts[-1])).astype(np.int64)
    fallen = np.clip((ts - falls_s * S) / (10 * S), 0, 0.9)
    limit = (threshold * (1 + (start / 100 - 1) * (1 - fallen))).astype(np.int64)
    dirty = np.where(ts >= full_s * S, limit, 0)
    return DirtyState(ts, threshold // 2, threshold, limit, dirty, np.zeros(len(ts), np.int64))


def decisions(task, times_s, rates):
    """Return throttling decisions on one task: it must sleep 100 ms, at these rates."""
    ts = np.array([int(time * S) for time in times_s], np.int64)
    full = np.ones(len(ts), np.int64)
    rates = np.broadcast_to(np.asarray(rates, np.int64), len(ts)).copy()
    names = np.full(len(ts), task, object)
    return Throttling(ts, PIDS[task] * full, names, 100 * MS * full, 0 * full, rates, *[MIB * full] * 6, names)


@pytest.fixture
def sample():
    """Return a function that makes a sample from pauses of loads ({time: length} in s) and columns."""

    def make(pauses=None, *, preset="base", throttling=None, state=None, opens=None, released_s=()):
        spec = read_spec(SPECS.find(preset))
        spec = replace(spec, load={name: spec.load[name] for name in PIDS})
        loads = tuple(
            LoadCycles(name, load, PIDS[name], "stopped", "", cycles(load, (pauses or {}).get(name, {})))
            for name, load in spec.load.items()
        )
        run = Run(Path(f"/runs/{preset}"), {"outcome": "succeeded"}, spec, loads)
        found = Sample(run)
        vars(found)["traced"] = Traced(
            states() if state is None else state,
            decisions("mw1", [], []) if throttling is None else throttling,
            opens or Calls(traced=True),
            np.array([int(time * S) for time in released_s], np.int64),
        )
        return found

    return make


@pytest.fixture
def made():
    """Return the other functions that make parts of samples."""
    return SimpleNamespace(states=states, decisions=decisions, pids=PIDS)
