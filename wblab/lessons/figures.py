"""The figures of a run that lessons ask for, by name.

`LOAD.METRIC`: a metric of a load (wblab/analysis/runs/metrics.py), its paused time by cause among them.
`dirty.NAME`: of the page cache, in bytes: `background`, `threshold`, `limit` and `freerun` when the loads start;
`checked`, what was dirty or under writeback at the kernel's first decision on a writer, and `setpoint` then;
`throttled`, the same when it first made a task sleep; `most`, the most there was.
`rate.first`, `rate.last`: the base rate of the device at the first and the last such decision, in bytes/s.
`LOAD.dropped`: how many lines or requests a main loop dropped.
`PROGRAM.NAME`: what a program of a lesson measured.
Of several runs with as many seeds: those of the first, and `FIGURE.least`, `.most` and `.mean` over all of them.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.metrics import is_cause, metric_rows
from wblab.analysis.runs.pagecache import DirtyState, PageCache, Throttling, page_cache
from wblab.analysis.runs.run import Run
from wblab.analysis.why.explanations import cause_metrics
from wblab.core.errors import InputError, nearest
from wblab.core.layout import LEFT
from wblab.lab.formats import RUN, read_object

# Numbers as people write them, with a unit or without: 1.3, "1.3 s", "14MiB", "300 ms", "40 %".

UNITS = {
    "": 1.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "%": 0.01,
    "B": 1.0,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
    "KiB/s": 1024.0,
    "MiB/s": 1024.0**2,
}
_KINDS = ({"s", "ms", "us"}, {"%"}, {"B", "KiB", "MiB", "GiB"}, {"KiB/s", "MiB/s"}, {""})
_NUMBER = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)(?: ?([KMG]iB/s|[KMG]iB|ms|us|s|B|%)(?![\w/]))?")
_LONGEST = 40
_MOST = 1e18
_DIGITS = 3
_ROUNDED_PERCENT = 15


@dataclass(frozen=True)
class Number:
    """A number in s, bytes, bytes/s or as a share. rounded: half of its last digit."""

    value: float
    rounded: float = 0.0

    def is_near(self, figure: float, percent: int) -> bool:
        """Whether it lies within so many per cent of a figure, or is the figure rounded, if not by too much."""
        off = abs(self.value - figure)
        return off <= abs(figure) * percent / 100 or off <= self.rounded <= abs(figure) * _ROUNDED_PERCENT / 100


def read(answer: object, unit: str) -> Number:
    """Return the number that an answer is; `unit` is that of one without a unit. Raises InputError."""
    if isinstance(answer, float) and 0 <= answer < _MOST:
        answer = f"{answer:f}".rstrip("0").removesuffix(".")
    text = str(answer).strip() if not isinstance(answer, int) or 0 <= answer < _MOST else "it"
    found = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise InputError(f"{text[:_LONGEST]!r} is no number: write for example {_example(unit)}")
    given = found[2] or unit
    if not any({given, unit} <= kind for kind in _KINDS):
        raise InputError(f"{text!r} is not in {unit or 'plain numbers'}: write for example {_example(unit)}")
    return _number(found[1], given)


def cited(text: str, unit: str = "") -> list[Number]:
    """Return the numbers in a sentence; `unit` is that of one without a unit."""
    return [_number(digits, given or unit) for digits, given in _NUMBER.findall(text)]


def unit_of(text: str) -> str:
    """Return the unit at the end of a text; empty if there is none."""
    return next((unit for unit in sorted(UNITS, key=len, reverse=True) if unit and text.endswith(unit)), "")


def written(value: float, unit: str) -> str:
    """Return a figure with three digits that count, in a unit: 1.32 s."""
    number = value / UNITS[unit]
    digits = _DIGITS - 1 - math.floor(math.log10(abs(number))) if number else 0
    return f"{number:.{min(max(digits, 0), 6)}f} {unit}".strip()


def _number(digits: str, unit: str) -> Number:
    decimals = len(digits.partition(".")[2])
    return Number(float(digits) * UNITS[unit], 0.5 * 10**-decimals * UNITS[unit])


def _example(unit: str) -> str:
    return f'"1.5 {unit}"' if unit else "1.5"


OVER = re.compile(r"\.(least|most|mean)$")


class LessonFigures(dict[str, float]):
    """The figures of a run. A cause of which a load has no pause is 0 s."""

    def __missing__(self, name: str) -> float:
        load, _, metric = OVER.sub("", name).rpartition(".")
        if is_cause(metric) and f"{load}.paused_s" in self:
            return 0.0
        raise InputError(f"the run has no figure {name!r}{nearest(name, list(self))}")


def figures(run: Run) -> LessonFigures:
    """Return all figures of a run. Raises InputError for a damaged one."""
    found = LessonFigures({f"{load}.{metric}": value for load, _, metric, value in metric_rows(run, cause_metrics)})
    found |= {f"{item.name}.dropped": float(item.dropped) for item in run.loads}
    if run.spec.trace.events:
        found |= _cache(page_cache(run), run.zero_ns)
    for path in sorted((run.path / LEFT).glob("*.json")):
        numbers = read_object(path, RUN.where)
        found |= {f"{path.stem}.{key}": float(value) for key, value in numbers.items()}
    return found


def over(runs: Sequence[LessonFigures]) -> LessonFigures:
    """Return the figures of several runs; of one, its own. Raises InputError for a figure that not all of them have."""
    if len(runs) == 1:
        return runs[0]
    found = LessonFigures(runs[0])
    for name in sorted({name for run in runs for name in run}):
        values = [run[name] for run in runs]
        found |= {f"{name}.least": min(values), f"{name}.most": max(values), f"{name}.mean": sum(values) / len(values)}
    return found


def _cache(cache: PageCache, zero_ns: int) -> dict[str, float]:
    """Return the figures of the page cache from the loads' start on."""
    state = cache.dirty_state.where(cache.dirty_state.ts_ns >= zero_ns)
    if not len(state):
        return {}
    background, threshold = float(state.background[0]), float(state.threshold[0])
    waiting = state.dirty + state.writeback
    # balance_dirty_pages() lets tasks go on below the middle of both thresholds: dirty_freerun_ceiling().
    found = {"dirty.background": background, "dirty.threshold": threshold, "dirty.limit": float(state.limit[0])}
    found |= {"dirty.freerun": (background + threshold) / 2, "dirty.most": float(waiting.max())}
    found |= _decided(cache.throttling.where(cache.throttling.ts_ns >= zero_ns), state, waiting)
    return found


def _decided(decisions: Throttling, state: DirtyState, waiting: NDArray[np.int64]) -> dict[str, float]:
    """Return the figures of the kernel's decisions on writers, which belong to the states before them."""

    def waiting_at(row: int) -> float:
        return float(waiting[max(0, int(np.searchsorted(state.ts_ns, decisions.ts_ns[row], side="right")) - 1)])

    if not len(decisions):
        return {}
    found = {"dirty.checked": waiting_at(0), "dirty.setpoint": float(decisions.setpoint[0])}
    if len(slept := np.flatnonzero(decisions.pause_ns > 0)):
        found["dirty.throttled"] = waiting_at(int(slept[0]))
    return found | {"rate.first": float(decisions.base_rate[0]), "rate.last": float(decisions.base_rate[-1])}
