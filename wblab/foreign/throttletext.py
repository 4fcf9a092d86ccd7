"""Traces as text (trace, trace_pipe, trace-cmd report, perf script): which dirty limit slowed which task, for how long.

The kernel says it in balance_dirty_pages, and the machine's own counts just before in global_dirty_state
(include/trace/events/writeback.h, Linux 3.2 and later). What limit it was is decided as for runs, by `Balances`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.why.balances import FIELDS, Balances
from wblab.foreign.plaintext import lines_of

PAGE_BYTES = 4096  # of x86; a text does not say it
_MOST_DECISIONS, _MOST_LINES, _MOST_LETTERS = 1_000_000, 5_000_000, 1024
_BALANCE, _STATE = "balance_dirty_pages:", "global_dirty_state:"
_TASK = re.compile(
    r"\s{0,32}(?P<comm>\S.{0,31}?)(?:-|\s+)(?P<pid>\d{1,8})(?:/\d{1,8})?\s+(?:\([ \d-]{1,12}\)\s+)?\[\d{1,5}\]"
)
_BDI = re.compile(r"\s*bdi (?P<disk>[^\s]{1,32}?):\s")
_FIELD = re.compile(r"\b(?P<name>[a-z_]{2,20})=(?P<value>-?\d{1,20})\b")
_COUNTS = ("limit", "setpoint", "dirty", "wb_setpoint", "wb_dirty")
_SIGNED_64, _LITTLE_BELOW_0 = 1 << 63, 1 << 20  # a count so near to 2^32 is one below 0 of a 32-bit kernel


@dataclass(frozen=True)
class Slowed:
    """A task that a limit slowed. of: the machine's limit, a disk's own or a control group's; "" if not to be told.

    slept_s: in all; longest_s: the longest time before it went on. limit, dirty, on_disk: in bytes, at the decision
    with the longest: the limit, what counted as dirty against it, and what of that was for the disk.
    """

    comm: str
    pid: int
    of: str
    disk: str
    group: int
    slept_s: float
    longest_s: float
    stops: int
    limit: int
    dirty: int
    on_disk: int


@dataclass(frozen=True)
class Throttlings:
    """What a text says of dirty limits.

    slowed: the most slept first. impossible: lines with a count that cannot be, such as 2^64 - 2, a defect of that
    kernel; they are left out. has_state: whether the machine's own counts are there.
    """

    slowed: tuple[Slowed, ...]
    decisions: int
    impossible: int
    has_state: bool
    is_cut: bool


@dataclass(frozen=True)
class _Decision:
    pid: int
    disk: str
    fields: Mapping[str, int]
    whole: Mapping[str, int]


def read_throttlings(text: str) -> Throttlings | None:
    """Return what a text says of dirty limits; None if it has no such event."""
    made: list[_Decision] = []
    comms: dict[int, str] = {}
    states: dict[int, dict[str, int]] = {}
    impossible, lines = 0, lines_of(text, _MOST_LETTERS)
    for line in islice(lines, _MOST_LINES):
        event = _BALANCE if _BALANCE in line else _STATE if _STATE in line else ""
        task = _TASK.match(line) if event else None
        if not task:
            continue
        said, pid = line.partition(event)[2], int(task["pid"])
        fields = fields_of(said)
        if any(cannot_be(value) for name, value in fields.items() if name not in {"pause", "think"}):
            impossible += 1
        elif event == _STATE:
            states[pid] = fields
        elif (disk := _BDI.match(said)) and set(_COUNTS) <= set(fields):
            comms[pid] = task["comm"]
            made.append(_Decision(pid, disk["disk"], fields, states.get(pid, {})))
            if len(made) >= _MOST_DECISIONS:
                break
    if not made and not impossible:
        return None
    is_cut = next(lines, None) is not None
    return Throttlings(tuple(_slowed(made, comms)), len(made), impossible, bool(states), is_cut)


def fields_of(said: str) -> dict[str, int]:
    """Return the fields of an event that are numbers, by their names of today."""
    return {each["name"].replace("bdi_", "wb_"): int(each["value"]) for each in _FIELD.finditer(said)}


def cannot_be(value: int) -> bool:
    """Whether a count is below zero, or is one of 32 or 64 bits that was."""
    return value < 0 or value >= _SIGNED_64 or (1 << 32) - _LITTLE_BELOW_0 < value < (1 << 32)


def _slowed(made: Sequence[_Decision], comms: Mapping[int, str]) -> list[Slowed]:
    disks = list(dict.fromkeys(item.disk for item in made))
    order = sorted(range(len(made)), key=lambda at: made[at].pid)
    rows = [made[at] for at in order]
    balances = _balances(rows, order, disks)
    strict = [balances.is_strict(device) for device in range(len(disks))]
    groups: dict[tuple[int, str, str, int], list[tuple[int, int]]] = {}
    for row, length_ms in _stops(rows):
        item = rows[row]
        of = _of(balances, row, is_strict=strict[disks.index(item.disk)])
        group = item.fields.get("cgroup_ino", 0) if of == "group" else 0
        groups.setdefault((item.pid, of, item.disk, group), []).append((length_ms, row))
    found = []
    for (pid, of, disk, group), stops in groups.items():
        longest_ms, most = max(stops)
        limit = balances.share(most) if of == "disk" else balances.size(most)
        dirty = int(balances.wb_dirty[most] if of == "disk" else balances.dirty[most])
        sizes = (limit * PAGE_BYTES, dirty * PAGE_BYTES, int(balances.wb_dirty[most]) * PAGE_BYTES)
        slept_ms = sum(length_ms for length_ms, _ in stops)
        found.append(Slowed(comms[pid], pid, of, disk, group, slept_ms / 1000, longest_ms / 1000, len(stops), *sizes))
    return sorted(found, key=lambda item: -item.slept_s)


def _stops(rows: Sequence[_Decision]) -> list[tuple[int, int]]:
    """Return how long a task was stopped in each call of balance_dirty_pages, in ms, with its last decision to sleep.

    A call sleeps again and again; `paused` is how long it has slept until then.
    """
    found: list[tuple[int, int]] = []
    for row, item in enumerate(rows):
        pause, paused = item.fields.get("pause", 0), item.fields.get("paused", 0)
        if pause > 0:
            if paused and found and rows[found[-1][0]].pid == item.pid:
                found.pop()
            found.append((row, paused + pause))
    return found


def _of(balances: Balances, row: int, *, is_strict: bool) -> str:
    if balances.is_free(row) or (is_strict and balances.slows_more(row)):
        return "disk"
    if balances.is_of_group(row):
        return "group"
    # Without the machine's counts, those of another group may be a group's.
    return "machine" if balances.hard[row] or int(balances.group[row]) <= 1 else ""


def _balances(rows: Iterable[_Decision], order: Sequence[int], disks: Sequence[str]) -> Balances:
    items = list(rows)

    def column(name: str) -> NDArray[np.int64]:
        return np.array([item.fields.get(name, 0) for item in items], np.int64)

    def whole(*names: str) -> NDArray[np.int64]:
        return np.array([sum(item.whole.get(name, 0) for name in names) for item in items], np.int64)

    places = {disk: at for at, disk in enumerate(disks)}
    return Balances(
        page_bytes=PAGE_BYTES,
        pid=np.array([item.pid for item in items], np.int64),
        rank=np.array(order, np.int64),
        device=np.array([places[item.disk] for item in items], np.int64),
        **{field: column(name) for field, name in FIELDS.items()},
        threshold=whole("thresh"),
        background=whole("bg_thresh"),
        hard=np.maximum(whole("thresh"), whole("limit")),
        whole=whole("dirty", "writeback", "unstable"),
    )
