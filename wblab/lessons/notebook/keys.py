"""The keys of a spec that are set by a number, and how values of a file become what a widget shows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wblab.core.errors import InputError
from wblab.core.units import parse_bytes
from wblab.lessons.check import parts

_MIB = 1 << 20
_KIB_IN_MIB = 1024


@dataclass(frozen=True)
class Scale:
    """The range of a number. start: what it is for a key that the file does not have; unit: of the number."""

    least: float
    most: float
    step: float
    start: float
    unit: str
    read: Callable[[Any], float]
    write: Callable[[float], Any]

    def position(self, value: object) -> float | None:
        """Return the number of a value of a file; None for one that is not in the range."""
        try:
            at = self.read(value)
        except (InputError, ValueError, TypeError):
            return None
        return at if self.least <= at <= self.most else None


def _whole(value: object) -> float:
    return int(str(value).removesuffix("%").strip())


def _mib(value: object) -> float:
    return parse_bytes(str(value)) / _MIB


def _in_mib(number: float) -> str:
    return f"{number:.0f}MiB" if number == int(number) else f"{round(number * _KIB_IN_MIB)}KiB"


def _count(least: int, most: int, step: int, start: int, unit: str) -> Scale:
    return Scale(least, most, step, start, unit, _whole, round)


SCALES: Mapping[str, Scale] = {
    "sysctl.vm.dirty_bytes": Scale(0.25, 64, 0.25, 16, "MiB", _mib, _in_mib),
    "sysctl.vm.dirty_background_bytes": Scale(0.25, 64, 0.25, 8, "MiB", _mib, _in_mib),
    "sysctl.vm.dirty_ratio": _count(1, 100, 1, 20, "%"),
    "sysctl.vm.dirty_background_ratio": _count(1, 100, 1, 10, "%"),
    "sysctl.vm.dirty_expire_centisecs": _count(0, 6000, 50, 3000, "hundredths of a second"),
    "sysctl.vm.dirty_writeback_centisecs": _count(0, 3000, 50, 500, "hundredths of a second"),
    "disk.queue.nr_requests": _count(4, 256, 1, 64, "requests"),
    "disk.queue.max_sectors_kb": _count(4, 512, 4, 512, "KiB a request"),
    "disk.queue.wbt_lat_usec": _count(0, 100_000, 1000, 75_000, "µs"),
}


def typed(text: str) -> str | int | None:
    """Return the value that a text field stands for: None if it is empty, a whole number, or text.

    Hints show values as the file has them: text in quotes.
    """
    plain = text.strip().removeprefix('"').removesuffix('"').strip()
    if not plain:
        return None
    return int(plain) if plain.isascii() and plain.isdigit() else plain


def value_of(table: Mapping[str, Any], key: str) -> object:
    """Return the value of a key in a spec's table; None if it has none."""
    within: Any = table
    for part in parts(key):
        within = within.get(part) if isinstance(within, Mapping) else None
    return within
