"""What a monitor shows: samples, as they go from where they are taken to where they are drawn.

One JSON object a line: a Source first, then Batches, and an End when there is nothing more to come. Times are ns of the
source's CLOCK_MONOTONIC and say when something happened, not when it was heard of.
"""

import json
from dataclasses import dataclass
from typing import Any

from wblab.core.files import parse_json
from wblab.core.units import Bytes


@dataclass(frozen=True)
class Source:
    """Where samples come from. `name`: in words. `zero_ns`: the zero of its time axis.

    untraced: why kernel events are missing, and with them the dirty limit and throttling; empty where they are there.
    """

    name: str
    zero_ns: int
    untraced: str = ""


@dataclass(frozen=True)
class CacheState:
    """The page cache and what it is measured against; the limit is known from events only."""

    at_ns: int
    dirty: Bytes
    writeback: Bytes
    background: Bytes  # threshold
    threshold: Bytes
    limit: Bytes | None = None


@dataclass(frozen=True)
class Throttled:
    """A pause that the kernel asked of a task that dirties pages. disk: of which; empty where there is only one."""

    at_ns: int
    task: str
    pause_ns: int
    disk: str = ""


@dataclass(frozen=True)
class Waited:
    """How long a small write has taken since `start_ns`; not `over`, it still goes on."""

    name: str
    start_ns: int
    at_ns: int
    over: bool


@dataclass(frozen=True)
class Pressure:
    """How much of the last `span_ns` some tasks, or all that had work to do, waited for I/O (/proc/pressure/io)."""

    at_ns: int
    span_ns: int
    some_ns: int
    full_ns: int


@dataclass(frozen=True)
class Written:
    """What a task wrote in the last `span_ns`; those of one name are added up.

    disk: to which, of several, as far as that can be told; else empty. A task may write to more: `sda, sdb`.
    """

    at_ns: int
    span_ns: int
    task: str
    written: Bytes
    disk: str = ""


@dataclass(frozen=True)
class Worked:
    """What a disk did in the last `span_ns`. busy_ns: for how long it had something to do; None where nobody knows."""

    at_ns: int
    span_ns: int
    disk: str
    written: Bytes
    busy_ns: int | None = None


@dataclass(frozen=True)
class Batch:
    """Samples that were taken up to `now_ns`, and how many events were lost since the last ones."""

    now_ns: int
    states: tuple[CacheState, ...] = ()
    throttled: tuple[Throttled, ...] = ()
    waits: tuple[Waited, ...] = ()
    pressures: tuple[Pressure, ...] = ()
    writers: tuple[Written, ...] = ()
    disks: tuple[Worked, ...] = ()
    lost: int = 0


@dataclass(frozen=True)
class End:
    """There is nothing more to come. `reason`: why, in words; `failed`: it should not have ended so."""

    reason: str
    failed: bool = False


Item = Source | Batch | End

_KINDS: dict[str, type[Item]] = {"source": Source, "batch": Batch, "end": End}
_ROWS: dict[str, type[Any]] = {
    "states": CacheState,
    "throttled": Throttled,
    "waits": Waited,
    "pressures": Pressure,
    "writers": Written,
    "disks": Worked,
}


def line(item: Item) -> bytes:
    """Return an item as a line of JSON: an object with its kind as its only key. Rows that are empty are left out."""
    (kind,) = (name for name, cls in _KINDS.items() if isinstance(item, cls))
    content = {key: value for key, value in vars(item).items() if value != ()}
    return json.dumps({kind: content}, default=vars, separators=(",", ":")).encode() + b"\n"


def parse(text: bytes) -> Item:
    """Return the item in a line. Raises ValueError."""
    try:
        ((kind, content),) = parse_json(text).items()
        if kind == "batch":
            rows = {key: tuple(cls(**row) for row in content.get(key, ())) for key, cls in _ROWS.items()}
            return Batch(**content | rows)
        return _KINDS[kind](**content)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a sample: {text[:100]!r} ({error})") from None
