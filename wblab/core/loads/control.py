"""The control load."""

from dataclasses import dataclass
from pathlib import Path
from random import Random

from wblab.core.loads.base import Cycle, Periodic
from wblab.core.loads.repeated import Repeated, Sleeping
from wblab.core.units import format_time


@dataclass(frozen=True, kw_only=True)
class Control(Periodic):
    """Only sleeps: a pause of this load is a stall of the machine, not caused by writeback."""

    kind = "control"
    role = "control"
    sleeps_first = True
    on_disk = False

    @property
    def description(self) -> str:
        return f"only sleeps, {format_time(self.idle)} at a time: shows stalls of the machine itself"

    def prepare(self, mount: Path, draws: Random) -> Cycle:
        return Repeated(Sleeping(self.idle))
