"""Values of a finding: for each cell what its runs measured, the file that keeps them, and what they say."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.claims.finding.finding import Finding, FindingValue, OfValues, Point
from wblab.core.errors import InputError
from wblab.lab.formats import FIGURES
from wblab.lab.held import replace_file
from wblab.study.statement import Verdict

FILE = "figures.json"


@dataclass(frozen=True)
class MeasuredPoint:
    """What the runs of one cell say: seeds, the kernel's release, and metrics by load and name.

    A metric has a value for each seed, in the metric's unit.
    """

    seeds: tuple[int, ...]
    release: str
    metrics: Mapping[tuple[str, str], tuple[float, ...]]

    def values(self, value: FindingValue) -> tuple[float, ...]:
        """Return the largest metric among the value's loads, or the smallest, for each seed."""
        chosen = min if value.of == "smallest" else max
        return tuple(map(chosen, zip(*(self.metrics[load, value.metric] for load in value.loads), strict=True)))


Kept = Mapping[Point, MeasuredPoint]


def read(directory: Path) -> Kept:
    """Return the kept values of the finding in a directory; none if there are none. Raises InputError."""
    path = directory / FILE
    if not path.is_file():
        return {}
    try:
        return dict(map(_read, FIGURES.read(path)["points"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error})") from None


def write(directory: Path, kept: Kept, shown: Iterable[tuple[Point, FindingValue]]) -> None:
    """Keep what the shown values need of the cells that were measured, a line for each. Raises OSError."""
    wanted: dict[Point, set[tuple[str, str]]] = {}
    for point, value in shown:
        wanted.setdefault(point, set()).update((load, value.metric) for load in value.loads)
    known = sorted(wanted.keys() & kept.keys(), key=str)
    points = [json.dumps(_written(point, kept[point], wanted[point])) for point in known]
    lines = ",\n".join(points)
    head = json.dumps(FIGURES.head() | {"points": []}).removesuffix("]}")
    with replace_file(directory / FILE) as file:
        file.write(f"{head}\n{lines}\n]}}\n".encode())


def _read(each: Mapping[str, Any]) -> tuple[Point, MeasuredPoint]:
    metrics = {
        (load, metric): tuple(map(float, values))
        for load, named in each["loads"].items()
        for metric, values in named.items()
    }
    point = Point(each["matrix"], tuple(sorted(each["at"].items())))
    return point, MeasuredPoint(tuple(each["seeds"]), each["release"], metrics)


def _written(point: Point, measured: MeasuredPoint, wanted: Iterable[tuple[str, str]]) -> dict[str, Any]:
    loads: dict[str, dict[str, tuple[float, ...]]] = {}
    for load, metric in sorted(wanted):
        loads.setdefault(load, {})[metric] = measured.metrics[load, metric]
    head = {"matrix": point.matrix, "at": dict(point.at), "release": measured.release}
    return head | {"seeds": measured.seeds, "loads": loads}


# What the values say of the finding's statements.


@dataclass(frozen=True)
class Judged:
    """A statement, the values of each seed, what they are compared with, and the verdict."""

    statement: OfValues
    values: tuple[float, ...]
    others: tuple[float, ...]
    verdict: Verdict

    @property
    def holds(self) -> bool:
        """Whether it holds in every run."""
        return self.verdict.in_runs == "in every run"


def judged(finding: Finding, kept: Kept) -> list[Judged]:
    """Return what values say of each statement that they are about; the others are left out."""
    return [one for statement in finding.statement if (one := _judged(statement, finding, kept))]


def _judged(statement: OfValues, finding: Finding, kept: Kept) -> Judged | None:
    values = _values(statement.value, finding, kept)
    others = _values(statement.shorter, finding, kept) if statement.shorter else ()
    if not values or (statement.shorter and not others):
        return None
    seen = min(len(values), len(others or values))
    return Judged(statement, values[:seen], others[:seen], statement.judge(values, others))


def _values(name: str, finding: Finding, kept: Kept) -> tuple[float, ...]:
    value = finding.value[name]
    measured = kept.get(value.point())
    return measured.values(value) if measured else ()
