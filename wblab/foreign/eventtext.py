"""Traces as text: requests of disks from issue to completion, what was dirty against the limits, and rates of disks.

The events are block_rq_issue, block_rq_complete, global_dirty_state and bdi_dirty_ratelimit, as trace, trace_pipe,
trace-cmd report and perf script print them. What they say stands below who slept, if that is in the text, too.
"""

import re
from dataclasses import dataclass, field
from itertools import islice

from wblab.foreign.plaintext import lines_of
from wblab.foreign.sleeptext import HEAD
from wblab.foreign.throttletext import PAGE_BYTES, cannot_be, fields_of

_MOST_LINES, _MOST_LETTERS, _MOST_OPEN, _SECTOR_BYTES, _KIB = 3_000_000, 1024, 200_000, 512, 1024
_SIGNS = ("block_rq_issue:", "block_rq_complete:", "global_dirty_state:", "bdi_dirty_ratelimit:")
_REQUEST = re.compile(
    r"(?:block:)?block_rq_(?P<what>issue|complete):\s+(?P<disk>\d{1,4},\d{1,8}) (?P<how>[A-Z]{1,8}) (?:\d{1,10} )?"
    r"\(.{0,64}?\) (?P<sector>\d{1,20}) \+ (?P<sectors>\d{1,10})(?: \w{1,8},\d{1,5},\d{1,5})? \[(?P<said>[^\]]{1,32})\]"
)
_OTHER = re.compile(r"(?:writeback:)?(?P<what>global_dirty_state|bdi_dirty_ratelimit):\s+(?:bdi (?P<disk>\S{1,32}):)?")


@dataclass(frozen=True)
class Request:
    """A request of a disk. disk: its number, such as 8:16. took_s: from issue to completion, or to the text's end.

    comm: who issued it, as a rule a thread of the kernel for others.
    """

    disk: str
    is_write: bool
    size_bytes: int
    comm: str
    took_s: float
    is_over: bool = True


@dataclass
class DiskEvents:
    """What a text says of a disk. requests: that were completed. rate_bps: at which the kernel reckons that it writes.

    longest: the request that took longest, None if none has both ends here; left: the oldest that was not over.
    """

    requests: int = 0
    written_bytes: int = 0
    longest: Request | None = None
    left: Request | None = None
    rate_bps: int = 0


@dataclass(frozen=True)
class Dirty:
    """The moment with most dirty memory, in bytes. slowed_from: beyond that the kernel slows all who write."""

    dirty_bytes: int
    limit_bytes: int
    slowed_from_bytes: int


@dataclass
class Events:
    """What a text says. impossible: lines with a count that cannot be, left out."""

    disks: dict[str, DiskEvents] = field(default_factory=dict)
    dirty: Dirty | None = None
    impossible: int = 0
    is_cut: bool = False


@dataclass(frozen=True)
class _Issued:
    at_s: float
    request: Request


def read_events(text: str) -> Events | None:
    """Return what a text says of disks and of dirty memory; None if it has none of these events, or no whole one."""
    if not any(sign in text for sign in _SIGNS):
        return None
    found, issued, now_s = Events(), dict[tuple[str, str], _Issued](), 0.0
    lines = lines_of(text, _MOST_LETTERS)
    for line in islice(lines, _MOST_LINES):
        if not any(sign in line for sign in _SIGNS) or not (head := HEAD.match(line)):
            continue
        at_s = float(head["at"])
        now_s = max(now_s, at_s)
        if request := _REQUEST.match(head["rest"]):
            _note_request(found, issued, request, at_s)
        elif other := _OTHER.match(head["rest"]):
            _note_counts(found, other, head["rest"])
    for each in issued.values():
        _note_left(found, each, now_s)
    found.is_cut = next(lines, None) is not None
    return found if found.disks or found.dirty or found.impossible else None


def _note_request(found: Events, issued: dict[tuple[str, str], _Issued], said: re.Match[str], at_s: float) -> None:
    disk, key = said["disk"].replace(",", ":"), (said["disk"], said["sector"])
    size_bytes = int(said["sectors"]) * _SECTOR_BYTES
    if said["what"] == "issue":
        if len(issued) < _MOST_OPEN:
            issued[key] = _Issued(at_s, Request(disk, "W" in said["how"], size_bytes, said["said"], 0.0))
        return
    of = found.disks.setdefault(disk, DiskEvents())
    of.requests += 1
    of.written_bytes += size_bytes if "W" in said["how"] else 0
    if (begun := issued.pop(key, None)) and at_s >= begun.at_s:
        of.longest = _longer(of.longest, begun, at_s, is_over=True)


def _note_left(found: Events, begun: _Issued, now_s: float) -> None:
    if now_s > begun.at_s:
        of = found.disks.setdefault(begun.request.disk, DiskEvents())
        of.left = _longer(of.left, begun, now_s, is_over=False)


def _longer(before: Request | None, begun: _Issued, at_s: float, *, is_over: bool) -> Request:
    item, took_s = begun.request, at_s - begun.at_s
    if before and before.took_s >= took_s:
        return before
    return Request(item.disk, item.is_write, item.size_bytes, item.comm, took_s, is_over)


def _note_counts(found: Events, said: re.Match[str], rest: str) -> None:
    fields = fields_of(rest)
    if any(cannot_be(value) for value in fields.values()):
        found.impossible += 1
    elif said["what"] == "bdi_dirty_ratelimit":
        if said["disk"] and (rate := fields.get("write_bw", 0)):
            of = found.disks.setdefault(said["disk"], DiskEvents())
            of.rate_bps = max(of.rate_bps, rate * _KIB)
    elif {"dirty", "writeback", "bg_thresh", "thresh"} <= fields.keys():
        pages = fields["dirty"] + fields["writeback"] + fields.get("unstable", 0)
        limit, slowed = max(fields["thresh"], fields.get("limit", 0)), (fields["thresh"] + fields["bg_thresh"]) // 2
        if not found.dirty or pages * PAGE_BYTES > found.dirty.dirty_bytes:
            found.dirty = Dirty(pages * PAGE_BYTES, limit * PAGE_BYTES, slowed * PAGE_BYTES)
