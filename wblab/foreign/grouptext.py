"""The limits of control groups, of version 2 and 1, that the facts of a machine show of the groups of who sleeps."""

import re
from dataclasses import dataclass

_FILE = re.compile(
    r"^==> /sys/fs/cgroup(/[^\n]{0,400})?/([a-z_.]{4,40}) <==\n((?:(?!==> )[^\n]{0,200}\n){0,32})", re.MULTILINE
)
_OF_MEMORY = ("memory.max", "memory.high")
_OF_MEMORY_1 = ("memory.limit_in_bytes", "memory.soft_limit_in_bytes")
_RATES, _RATES_1 = "io.max", "blkio.throttle.write_bps_device"
_RATE = re.compile(r"(?P<disk>\d{1,4}:\d{1,7}) (?:.*\bwbps=)?(?P<rate>\d{1,18})\b")
_MOST_BYTES = 1 << 60  # what version 1 has for no limit is above


@dataclass(frozen=True)
class GroupLimit:
    """A limit of a control group. group: its path; name: of the file; most: in bytes, or bytes/s of a disk.

    disk: its number, major:minor; empty: it is a limit of memory.
    """

    group: str
    name: str
    most: int
    disk: str = ""


def read_groups(text: str) -> list[GroupLimit]:
    """Return the limits that are set, each once, in the order of the text."""
    found: dict[GroupLimit, None] = {}
    for match in _FILE.finditer(text):
        group, name = match[1] or "", match[2]
        if name in _OF_MEMORY_1 or name == _RATES_1:
            group = group[group.find("/", 1) :] if "/" in group[1:] else ""  # below the controller's own directory
        for line in match[3].splitlines():
            if name in (*_OF_MEMORY, *_OF_MEMORY_1) and line.isdecimal() and int(line[:20]) < _MOST_BYTES:
                found[GroupLimit(group or "/", name, int(line))] = None
            elif name in (_RATES, _RATES_1) and (rate := _RATE.match(line)):
                found[GroupLimit(group or "/", name, int(rate["rate"]), rate["disk"])] = None
    return list(found)
