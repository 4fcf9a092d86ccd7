"""The result of a twin: the machine, its twin, and whether the pauses match."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wblab.analysis.runs.run import Run
from wblab.core.tables import to_table
from wblab.report.quantities import quantity, size
from wblab.study.designs.twin.machine import Machine, sustained_bps
from wblab.study.designs.twin.match import Match
from wblab.study.designs.twin.scale import Twin


@dataclass(frozen=True)
class Result:
    """runs: the twin's runs. live: the live run that described the machine, if there was one."""

    machine: Machine
    twin: Twin
    live: Run | None
    runs: Sequence[Run]
    matches: Sequence[Match]

    def about(self) -> list[str]:
        """Describe the machine and its twin, one line each."""
        machine, twin = self.machine, self.twin
        disk = twin.spec.disk[twin.spec.first_disk]
        return [
            f"machine: {size(machine.memory_bytes)} of memory, "
            f"dirty thresholds {size(machine.background_bytes)} and {size(machine.dirty_bytes)}, "
            f"disk {quantity(machine.write_bps, 'bytes/s')}, {machine.filesystem}, "
            f"{machine.scheduler or 'no scheduler'}; flush time {quantity(machine.flush_s, 's')}",
            f"twin: 1/{twin.factor:.1f} of the machine: {size(twin.spec.memory)} of memory, "
            f"disk {quantity(sustained_bps(disk), 'bytes/s')}, {disk.filesystem}, {disk.scheduler}",
        ]

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


def _ratio(item: Match) -> list[float | None] | None:
    """Return the interval of live over twin, None for an infinite end; None without a live value."""
    return None if item.live is None else [end if math.isfinite(end) else None for end in item.ratio]
