"""The result of a twin and its report: the machine, its twin, and whether the pauses match."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wblab.analysis.runs.metrics import load_metrics
from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.statistics.decision import Outcome, between, placed
from wblab.analysis.statistics.intervals import LEAST_RUNS, predicted
from wblab.core.tables import to_table
from wblab.live.twin.described import Machine, sustained_bps
from wblab.live.twin.scale import Twin, read_study, runs_in
from wblab.report.palette import look_of
from wblab.report.quantities import interval, quantity, size, unit_of
from wblab.report.report import Column, Report, Row, Span, Table, Words, counted
from wblab.study.store import Store

# Whether a live run and its twin have the same pauses.

METRICS = ("longest_pause_s", "wait_time_s", "paused_fraction")
FACTOR = 2.0  # a twin within this factor matches
_ERROR = 0.05  # probability of one or more wrong verdicts among all metrics
# Values too small to notice, in the metric's unit. Two values below it count as equal.
UNNOTICED = {"longest_pause_s": 0.3, "wait_time_s": 0.05, "paused_fraction": 0.02}


@dataclass(frozen=True)
class Match:
    """One metric of one load: its live value and those of the twin's runs. live is None without a live run.

    looks: the number of metrics compared at once.
    """

    load: str
    metric: str
    live: float | None
    twin: tuple[float, ...]
    looks: int = 1

    @property
    def median(self) -> float:
        """The median of the twin's runs."""
        return float(np.median(self.twin))

    @property
    def outcome(self) -> Outcome | None:
        """Whether the twin reproduces the live value within a factor of FACTOR; None without a live value.

        The twin's distribution is assumed log-normal and the live run one more draw from it. Their ratio then has a
        prediction interval, which is placed within the factor or outside of it.
        """
        return None if self.live is None else placed(*self.ratio, between(1 / FACTOR, FACTOR))

    @property
    def ratio(self) -> tuple[float, float]:
        """The interval of live over twin, corrected for `looks` metrics; (0, inf) with too few runs."""
        least = UNNOTICED[self.metric]
        logs = np.log(np.maximum(self.twin, least))
        live = math.log(max(self.live or 0.0, least))
        if len(logs) < LEAST_RUNS:
            return 0.0, math.inf
        low, high = predicted(logs, 1 - _ERROR / self.looks)
        return math.exp(live - high), math.exp(live - low)


def matches(live: Run | None, twins: Sequence[Run]) -> list[Match]:
    """Return the metrics of all innocent loads; control loads are left out, as other work of a machine stalls them."""
    loads = [item for item in twins[0].loads if item.load.role == "innocent"]
    looks = len(loads) * len(METRICS)
    found = []
    for item in loads:
        of_twin = [load_metrics(run.load(item.name)) for run in twins]
        of_live = load_metrics(live.load(item.name)) if live else {}
        for metric in METRICS:
            twin = tuple(values[metric] for values in of_twin)
            found.append(Match(item.name, metric, of_live.get(metric), twin, looks))
    return found


_SHOWN = {"longest_pause_s": "longest pause", "wait_time_s": "wait time", "paused_fraction": "paused"}


@dataclass(frozen=True)
class TwinResult:
    """runs: the twin's runs. live: the live run that described the machine, if there was one."""

    machine: Machine
    twin: Twin
    live: Run | None
    runs: Sequence[Run]
    matches: Sequence[Match]

    def about(self) -> tuple[str, str]:
        """Describe the machine and its twin, one line each."""
        machine, twin = self.machine, self.twin
        disk = twin.spec.disk[twin.spec.first_disk]
        return (
            f"machine: {size(machine.memory_bytes)} of memory, "
            f"dirty thresholds {size(machine.background_bytes)} and {size(machine.dirty_bytes)}, "
            f"disk {quantity(machine.write_bps, 'bytes/s')}, {machine.filesystem}, "
            f"{machine.scheduler or 'no scheduler'}; flush time {quantity(machine.flush_s, 's')}",
            f"twin: 1/{twin.factor:.1f} of the machine: {size(twin.spec.memory)} of memory, "
            f"disk {quantity(sustained_bps(disk), 'bytes/s')}, {disk.filesystem}, {disk.elevator}",
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "live": str(self.live.path) if self.live else None,
            "machine": to_table(self.machine) | {"flush_s": self.machine.flush_s},
            "factor": self.twin.factor,
            "notes": list(self.twin.notes),
            "runs": [str(run.path) for run in self.runs],
            "matches": [
                {
                    "load": item.load,
                    "metric": item.metric,
                    "live": item.live,
                    "twin": list(item.twin),
                    "outcome": item.outcome,
                    "ratio": _ratio(item),
                }
                for item in self.matches
            ],
        }


def result_of(store: Store) -> TwinResult:
    """Return the result of a twin's finished runs. Raises InputError, also for a live run that is gone."""
    study, runs = read_study(store), runs_in(store)
    live = read_run(study.live) if study.live else None
    return TwinResult(study.machine, study.twin, live, runs, matches(live, runs))


def report(found: TwinResult, directory: Path) -> Report:
    """Return the report of a twin. directory: of its study."""
    return Report(
        title="A twin of this machine" if found.live is None else f"A twin of {found.live.name}",
        headline=_headline(found),
        blocks=(*found.about(), _table(found.matches, has_live=found.live is not None)),
        notes=found.twin.notes,
        data={"directory": str(directory)} | found.to_json(),
    )


def _headline(found: TwinResult) -> Words:
    """Return how many metrics of the live run the twin has; without one, the longest pause that it predicts."""
    if found.live:
        outcomes = [item.outcome for item in found.matches if item.outcome]
        return ("Metrics of the live run in the twin: ", *counted(outcomes, dict.fromkeys(outcomes)), ".")
    pauses = [item for item in found.matches if item.metric == "longest_pause_s"]
    if not pauses:
        return "No load of the twin has pauses."
    worst = max(pauses, key=lambda item: item.median)
    return f"Predicted longest pause: {_spread(worst)}, of {worst.load}."


def _table(matches: Sequence[Match], *, has_live: bool) -> Table:
    live = (Column("live", "number"),) if has_live else ()
    verdict = (Column("verdict"),) if has_live else ()
    columns = (Column("load"), Column("metric"), *live, Column("twin: median (range)", "number"), *verdict)
    rows = []
    for item in matches:
        value = quantity(item.live, unit_of(item.metric)) if item.live is not None else ""
        cells = (item.load, _SHOWN[item.metric], *([value] * has_live), _spread(item))
        rows.append(Row((*cells, *([_verdict(item)] * has_live))))
    return Table(columns, tuple(rows))


def _verdict(item: Match) -> Words:
    return Span(item.outcome, look_of(item.outcome).style) if item.outcome else ""


def _spread(item: Match) -> str:
    return interval(item.median, min(item.twin), max(item.twin), unit_of(item.metric))


def _ratio(item: Match) -> list[float | None] | None:
    """Return the interval of live over twin, None for an infinite end; None without a live value."""
    return None if item.live is None else [end if math.isfinite(end) else None for end in item.ratio]
