"""The monitor's samples, from where they are taken to where they are drawn.

One JSON object a line: a Source, then Batches, and an End when no more will come. Times are ns of the source's
CLOCK_MONOTONIC and say when something happened, not when it was read.
"""

import json
from dataclasses import dataclass
from typing import Any

from wblab.core.files import parse_json
from wblab.core.units import Bytes


@dataclass(frozen=True)
class SampleSource:
    """Where samples come from. `name`: in words. `zero_ns`: zero of its time axis.

    untraced: why there are no kernel events, and so no dirty limit and throttling; empty if there are.
    """

    name: str
    zero_ns: int
    untraced: str = ""


@dataclass(frozen=True)
class CacheState:
    """The page cache against its thresholds. Only events show the dirty limit."""

    at_ns: int
    dirty: Bytes
    writeback: Bytes
    background: Bytes  # threshold
    threshold: Bytes
    limit: Bytes | None = None


@dataclass(frozen=True)
class Throttled:
    """A pause that the kernel imposed on a task that dirties pages. disk: empty if there is only one."""

    at_ns: int
    task: str
    pause_ns: int
    disk: str = ""


@dataclass(frozen=True)
class Waited:
    """How long a small write has taken since `start_ns`; it is still in progress unless `over`."""

    name: str
    start_ns: int
    at_ns: int
    over: bool


@dataclass(frozen=True)
class Pressure:
    """Time within the last `span_ns` in which some tasks, or all non-idle tasks, waited for I/O (/proc/pressure/io)."""

    at_ns: int
    span_ns: int
    some_ns: int
    full_ns: int


@dataclass(frozen=True)
class WrittenSample:
    """Bytes that a task wrote in the last `span_ns`, summed over tasks of one name.

    disk: which of several disks, if known; else empty. It may be more than one: `sda, sdb`.
    """

    at_ns: int
    span_ns: int
    task: str
    written: Bytes
    disk: str = ""


@dataclass(frozen=True)
class Worked:
    """A disk's activity in the last `span_ns`. busy_ns: time with a request in flight; None if unknown."""

    at_ns: int
    span_ns: int
    disk: str
    written: Bytes
    busy_ns: int | None = None


@dataclass(frozen=True)
class Batch:
    """Samples taken up to `now_ns`, and how many events were lost since the last batch.

    now: who is stopped now, in a sentence; empty where the samples are not yet shown.
    """

    now_ns: int
    states: tuple[CacheState, ...] = ()
    throttled: tuple[Throttled, ...] = ()
    waits: tuple[Waited, ...] = ()
    pressures: tuple[Pressure, ...] = ()
    writers: tuple[WrittenSample, ...] = ()
    disks: tuple[Worked, ...] = ()
    lost: int = 0
    now: str = ""


@dataclass(frozen=True)
class End:
    """The end of the samples. `reason`: why, in words. `failed`: it was not a normal end."""

    reason: str
    failed: bool = False


Item = SampleSource | Batch | End

_KINDS: dict[str, type[Item]] = {"source": SampleSource, "batch": Batch, "end": End}
_ROWS: dict[str, type[Any]] = {
    "states": CacheState,
    "throttled": Throttled,
    "waits": Waited,
    "pressures": Pressure,
    "writers": WrittenSample,
    "disks": Worked,
}


def line(item: Item) -> bytes:
    """Return an item as a JSON line: an object whose only key is its kind. Empty rows are left out."""
    (kind,) = (name for name, cls in _KINDS.items() if isinstance(item, cls))
    content = {key: value for key, value in vars(item).items() if value != () and not (key == "now" and not value)}
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
