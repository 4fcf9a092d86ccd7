"""What a twin showed: the machine, its twin, and whether the pauses match."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wblab.core.tables import to_table
from wblab.data.run import Run
from wblab.twin.machine import Machine, sustained_bps
from wblab.twin.match import Match
from wblab.twin.scale import Twin

_MIB = 1 << 20


@dataclass(frozen=True)
class Result:
    """runs: the twin's. live: the run that it was made from; None, it was made from a machine."""

    machine: Machine
    twin: Twin
    live: Run | None
    runs: Sequence[Run]
    matches: Sequence[Match]

    def about(self) -> list[str]:
        """Return the machine and its twin, a line each."""
        machine, twin = self.machine, self.twin
        disk = twin.spec.disk[twin.spec.first_disk]
        return [
            f"machine: {machine.memory_bytes / _MIB:.0f} MiB of memory, "
            f"thresholds {machine.background_bytes / _MIB:.0f} and {machine.dirty_bytes / _MIB:.0f} MiB, "
            f"disk {machine.write_bps / _MIB:.1f} MiB/s, {machine.filesystem}, "
            f"{machine.scheduler or 'no scheduler'}; flush time {machine.flush_s:.2f} s",
            f"twin: 1/{twin.factor:.1f} of it: {twin.spec.memory / _MIB:.0f} MiB of memory, "
            f"disk {sustained_bps(disk) / _MIB:.2f} MiB/s, {disk.filesystem}, {disk.scheduler}",
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
                    "verdict": item.verdict or None,
                }
                for item in self.matches
            ],
        }
