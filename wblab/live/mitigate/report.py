"""The daemon's output: one line for each decision, as text or JSON."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

from wblab.lab.printable import printable
from wblab.report.quantities import percent, quantity

Action = Literal["hold", "release", "follow", "put back", "set", "note", "warn"]
Say = Callable[["Event"], None]


@dataclass(frozen=True, kw_only=True)
class Event:
    """A decision or a finding. rate: bytes/s, `share` of the disk's bandwidth; -1 if it has none."""

    action: Action
    text: str
    pid: int = 0
    name: str = ""
    rate: float = -1
    share: float = -1
    disk: str = ""

    def line(self) -> str:
        """Return it as text."""
        if not self.pid:
            return f"{self.action}: {self.text}"
        much = f" {quantity(self.rate, 'bytes/s')}, {percent(self.share)} of {self.disk}," if self.share >= 0 else ""
        return f"{self.action} {self.pid} {self.name}:{much} {self.text}"


def printer(as_json: bool) -> Say:
    """Return a function that prints events with the time of day."""

    def say(event: Event) -> None:
        if as_json:
            print(json.dumps({"time": time.time()} | asdict(event)), flush=True)
        else:
            print(time.strftime("%H:%M:%S"), printable(event.line()), flush=True)

    return say
