"""Expected figures of a kernel series: for each preset of a standard set the digest of a run, and where figures lie.

`experiments/measured/expected/SERIES.json` has them, as one machine recorded them. A run with the same inputs has the
same digest. One with other inputs, such as another compiler, has figures within the intervals.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wblab.analysis.runs.metrics import MORE_IS_BETTER, UNPLUG, metric_rows
from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.statistics.decision import Range
from wblab.analysis.statistics.intervals import predicted
from wblab.core.errors import InputError
from wblab.core.tables import to_table
from wblab.lab.formats import EXPECTED, write_json
from wblab.lab.places import MEASURED
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.report.quantities import quantity, span, unit_of
from wblab.study.cells import Cell, make_cell, run_name
from wblab.study.designs.audit.golden import Golden, GoldenVerdict, judge, seen
from wblab.study.designs.matrix import NAME as MATRIX
from wblab.study.plan import Plan
from wblab.study.store import Store

FOLDER = MEASURED / "expected"
STANDARD = ("base", "base-device", "base-ext2", "two-disks", "commit", "stick")
SEEDS = tuple(range(1, 9))  # the first is the seed of the digest
HEADLINE = ("longest_pause_s", "paused_s", UNPLUG, *sorted(MORE_IS_BETTER))
DOUBT = 0.01  # of one false difference among all figures of a series
_FINE_S = 0.01  # nobody notices a shorter time
_FINE_SHARE = 0.01  # of other figures
_DIGITS = 6
_LONGEST_TEXT, _MOST_FIGURES, _MOST_INPUTS, _MOST_PRESETS = 500, 1000, 100, 100

Figures = Mapping[str, float]  # by load and metric: w1.longest_pause_s


@dataclass(frozen=True)
class Expected:
    """What is expected of a preset. golden: the run with the first seed."""

    golden: Golden
    figures: Mapping[str, Range]


@dataclass(frozen=True)
class Compared:
    """A preset's run beside what was expected. strange: the figures that are not, in words."""

    preset: str
    verdict: GoldenVerdict
    figures: int
    strange: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether the run is identical, or was made on a machine with other inputs and has figures that were expected.

        What was recorded with another lab fits no run: it is stale, whatever the figures are.
        """
        return self.verdict.same or (self.verdict.excused and not self.strange)

    def __str__(self) -> str:
        if self.verdict.same:
            return "identical"
        if stale := self.verdict.stale:
            said = "; ".join(self.strange) or f"{self.figures} figures within the intervals"
            return f"stale: recorded with another version of {', '.join(stale)} (make expected): {said}"
        if self.strange:
            return f"differs: {'; '.join(self.strange)}"
        if not self.verdict.differing:
            return "differs: other bytes from the same inputs, figures within the intervals"
        return f"other inputs ({', '.join(self.verdict.differing)}): {self.figures} figures within the intervals"


def figures(run: Run) -> dict[str, float]:
    """Return the headline figures of a run's loads, without its control loads."""
    return {
        f"{load}.{metric}": value
        for load, kind, metric, value in metric_rows(run)
        if metric in HEADLINE and kind != "control"
    }


def spans(presets: Mapping[str, Sequence[Figures]]) -> dict[str, dict[str, Range]]:
    """Return where the figures of one more run of each preset lie; `presets`: their runs.

    This is Student's prediction interval; of positive figures, over their logarithms. One of all intervals misses with
    a probability of at most `DOUBT`. An interval includes all runs, and is widened by what nobody notices, because the
    values of seeds may be equal.
    """
    values: dict[str, dict[str, list[float]]] = {}
    for preset, runs in presets.items():
        for name, value in (item for one in runs for item in one.items()):
            values.setdefault(preset, {}).setdefault(name, []).append(value)
    confidence = 1 - DOUBT / max(sum(map(len, values.values())), 1)
    return {
        preset: {name: _span(name, found, confidence) for name, found in figures_.items()}
        for preset, figures_ in values.items()
    }


def compare(preset: str, expected: Expected, golden: Golden, found: Figures) -> Compared:
    """Compare a run with what is expected of its preset."""
    strange = [_strange(name, span_, found.get(name)) for name, span_ in expected.figures.items()]
    new = [f"{name} is new" for name in found if name not in expected.figures]
    return Compared(preset, judge([expected.golden], golden), len(found), (*filter(None, strange), *new))


def path_of(series: str) -> Path:
    """Return the file of a series."""
    return FOLDER / f"{series}.json"


def write_expected(series: str, presets: Mapping[str, Expected], path: Path) -> None:
    """Write what is expected of a series. Raises OSError."""
    path.parent.mkdir(exist_ok=True)
    content = {
        name: asdict(one.golden) | {"figures": {key: [span_.low, span_.high] for key, span_ in one.figures.items()}}
        for name, one in presets.items()
    }
    write_json(path, EXPECTED.head() | {"series": series, "presets": content}, short=True)


def read_expected(series: str, path: Path) -> dict[str, Expected]:
    """Return what is expected of a series, by preset. Raises InputError if there is no file, or it is damaged."""
    again = f"record this machine's figures with wblab repeat golden --series {series} --update"
    if not path.exists():
        raise InputError(f"there are no expected figures of {series}: {again}")
    content = EXPECTED.read(path)
    try:
        presets = {_text(name): _expected(one) for name, one in _table(content["presets"], _MOST_PRESETS).items()}
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error})") from None
    if content.get("series") != series or presets.keys() != set(STANDARD):
        raise InputError(f"{path} is of another series or other presets: {again}")
    return presets


def _span(name: str, values: Sequence[float], confidence: float) -> Range:
    array = np.asarray(values, np.float64)
    if is_log := bool((array > 0).all()):
        array = np.log(array)
    low, high = float(array.min()), float(array.max())
    if len(array) > 1:
        ends = predicted(array, confidence)
        low, high = min(low, ends[0]), max(high, ends[1])
    if is_log:
        low, high = math.exp(low), math.exp(high)
    fine = _FINE_S if unit_of(name) == "s" else 0.0
    low, high = low - max(fine, _FINE_SHARE * abs(low)), high + max(fine, _FINE_SHARE * abs(high))
    return Range(_rounded(max(low, 0.0)), _rounded(high))


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _strange(name: str, expected: Range, found: float | None) -> str:
    """Return in words how a figure differs from the expected one; empty if it does not."""
    if found is not None and found in expected:
        return ""
    unit = unit_of(name)
    said = "missing" if found is None else quantity(found, unit)
    return f"{name} is {said}, expected {span(expected.low, expected.high, unit)}"


def _table(value: object, most: int) -> Mapping[str, Any]:
    if not isinstance(value, dict) or len(value) > most:
        raise TypeError(f"a table of at most {most} entries was expected")
    return value


def _expected(value: object) -> Expected:
    """Read a preset. Raises KeyError, TypeError, ValueError."""
    table = _table(value, 4)
    inputs = {_text(key): _text(item) for key, item in _table(table["inputs"], _MOST_INPUTS).items()}
    found = {_text(key): _ends(item) for key, item in _table(table["figures"], _MOST_FIGURES).items()}
    return Expected(Golden(_text(table["on"]), _text(table["digest"]), inputs), found)


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise TypeError(f"a text of at most {_LONGEST_TEXT} characters was expected")
    return value


def _ends(value: object) -> Range:
    if not isinstance(value, list) or len(value) != 2 or not all(map(_is_number, value)) or value[0] > value[1]:
        raise ValueError("an interval is two numbers, the smaller first")
    return Range(float(value[0]), float(value[1]))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# The runs of the standard set of presets on one series, and what they say about its expected figures.

_AXIS = "preset"


def plan_of(series: str, *, update: bool) -> Plan:
    """Return the plan of a series: one run of each preset, or with `update` several."""
    seeds = SEEDS if update else SEEDS[:1]
    return Plan(f"expected-{series}", seeds, tuple(_cell(preset, series) for preset in STANDARD), design=MATRIX)


def record(series: str, store: Store) -> None:
    """Write what the finished runs of a store say as what is expected of a series. Raises OSError."""
    runs = {cell.name: [_run(store, cell, seed) for seed in store.plan.seeds] for cell in store.plan.cells}
    found = spans({preset: list(map(figures, some)) for preset, some in runs.items()})
    presets = {preset: Expected(seen(some[0]), found[preset]) for preset, some in runs.items()}
    write_expected(series, presets, path_of(series))


def compared(series: str, store: Store) -> list[Compared]:
    """Compare the finished runs of a store with what is expected of a series. Raises InputError."""
    expected = read_expected(series, path_of(series))
    runs = {cell.name: _run(store, cell, SEEDS[0]) for cell in store.plan.cells}
    return [compare(preset, expected[preset], seen(run), figures(run)) for preset, run in runs.items()]


def _cell(preset: str, series: str) -> Cell:
    spec = to_table(read_spec(SPECS.find(preset)))
    return make_cell(spec, preset, {_AXIS: (preset, {"kernel": series})}, exact=True)


def _run(store: Store, cell: Cell, seed: int) -> Run:
    return read_run(store.runs / run_name(cell, seed))
