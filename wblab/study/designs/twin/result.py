"""The result of a twin and its report: the machine, its twin, and whether the pauses match."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.analysis.runs.run import Run, read_run
from wblab.core.tables import to_table
from wblab.report.metricnames import unit_of
from wblab.report.palette import look_of
from wblab.report.quantities import interval, quantity, size
from wblab.report.report import Column, Report, Row, Span, Table, Words, counted
from wblab.study.designs.twin.machine import Machine, sustained_bps
from wblab.study.designs.twin.match import Match, matches
from wblab.study.designs.twin.runs import read_study, runs_in
from wblab.study.designs.twin.scale import Twin
from wblab.study.store import Store

_SHOWN = {"longest_pause_s": "longest pause", "wait_time_s": "wait time", "paused_fraction": "paused"}


@dataclass(frozen=True)
class Result:
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
            f"disk {quantity(sustained_bps(disk), 'bytes/s')}, {disk.filesystem}, {disk.scheduler}",
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


def result_of(store: Store) -> Result:
    """Return the result of a twin's finished runs. Raises InputError, also for a live run that is gone."""
    study, runs = read_study(store), runs_in(store)
    live = read_run(study.live) if study.live else None
    return Result(study.machine, study.twin, live, runs, matches(live, runs))


def report(found: Result, directory: Path) -> Report:
    """Return the report of a twin. directory: of its study."""
    return Report(
        title="A twin of this machine" if found.live is None else f"A twin of {found.live.name}",
        headline=_headline(found),
        blocks=(*found.about(), _table(found.matches, has_live=found.live is not None)),
        notes=found.twin.notes,
        data={"directory": str(directory)} | found.to_json(),
    )


def _headline(found: Result) -> Words:
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
