"""The control load."""

import time
from dataclasses import dataclass
from pathlib import Path

from wblab.core.loads.base import Cycle, Load
from wblab.core.parameters import check_idle
from wblab.core.units import NS_PER_S, Nanoseconds, format_time


@dataclass(frozen=True, kw_only=True)
class Control(Load):
    """Sleeps: a pause of this load is a stall of the environment, not of writeback."""

    kind = "control"
    role = "control"
    sleeps_first = True
    idle: Nanoseconds

    @property
    def description(self) -> str:
        return f"only sleeps, {format_time(self.idle)} at a time: shows stalls of the machine itself"

    def check(self, path: str = "") -> None:
        super().check(path)
        check_idle(f"{path}idle", self.idle)

    def idle_ns(self, number: int) -> int:
        return self.idle

    def prepare(self, mount: Path, seed: str = "") -> Cycle:
        sleep, idle_s = time.sleep, self.idle / NS_PER_S
        return lambda number: sleep(idle_s)
