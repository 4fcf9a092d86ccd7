"""Slow calls in the log of a program as a report: how often, for how long, when, and what to record."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any

from wblab.foreign.slowlog import FORMS, SlowCall
from wblab.report.quantities import quantity
from wblab.report.report import Block, Column, Lines, Points, Report, Row, Section, Table

_APART_S = 60.0  # between two clusters
_LONG_S = 1.0
_MOST_ROWS = 8
_LEAST_REGULAR, _MOST_VARIED = 4, 0.15
_COMMITS = (
    "In the lab a commit waited behind what another program had written: a queue of 512 KiB made the longest one "
    "0.51 s instead of 3.4 s on a SATA disk."
)
_AT_LEAST = ("Redis",)


@dataclass(frozen=True)
class Cluster:
    """Slow calls with less than a minute from one to the next. begin_s: when the first began, end_s: the last ended."""

    calls: tuple[SlowCall, ...]
    begin_s: float
    end_s: float

    @property
    def longest_s(self) -> float:
        """The longest call."""
        return max(call.took_s for call in self.calls)


def clusters(calls: Sequence[SlowCall]) -> list[Cluster]:
    """Return the slow calls that have a time in groups, in the order of time."""
    timed = sorted(((call.at_s, call) for call in calls if call.at_s is not None), key=lambda pair: pair[0])
    groups: list[list[SlowCall]] = []
    last_s = 0.0
    for at_s, call in timed:
        if groups and at_s - call.took_s - last_s < _APART_S:
            groups[-1].append(call)
        else:
            groups.append([call])
        last_s = max(at_s, last_s)
    return [
        Cluster(
            tuple(group),
            min((call.at_s or 0.0) - call.took_s for call in group),
            max(call.at_s or 0.0 for call in group),
        )
        for group in groups
    ]


def slow_report(name: str, calls: Sequence[SlowCall]) -> Report:
    """Return the report on the slow calls of a log. name: of its file."""
    title = f"{name}: which calls were slow, and when?"
    about = (f"{name}: a log with {_count(len(calls), 'message')} on slow calls and checkpoints", "")
    data = {"file": name, "kind": "slow calls", **slow_data(calls)}
    blocks = (*slow_blocks(calls), _apart("What this log cannot tell:", Points(tuple(_silent(calls)))))
    return Report(title, slow_headline(calls), blocks, data=data, about=about)


def slow_headline(calls: Sequence[SlowCall]) -> str:
    """Return how often which call was slow, when, and what that points to."""
    slow = _slow(calls)
    if not slow:
        longest = max(calls, key=lambda call: call.took_s)
        took = _seconds(longest.took_s)
        return (
            f"{longest.program}: none of {_count(len(calls), 'checkpoint')} synced a file for a second or more, the "
            f"longest took {took}: the disk did not stall it there."
        )
    said = [_program_words(program, slow) for program in dict.fromkeys(call.program for call in slow)]
    return " ".join([*said[:2], _when(slow), _points(slow)])


def _slow(calls: Sequence[SlowCall]) -> list[SlowCall]:
    return [call for call in calls if call.took_s >= _LONG_S]


def _program_words(program: str, slow: Sequence[SlowCall]) -> str:
    own = [call for call in slow if call.program == program]
    call = own[0].call
    if program in _AT_LEAST:
        return f"{program} says {_times(len(own))} that an {call} had not ended after {_seconds(own[0].took_s)}."
    longest, total = max(each.took_s for each in own), sum(each.took_s for each in own)
    all_of = f", {_seconds(total)} in all" if len(own) > 1 else ""
    syncs = max(each.syncs_s for each in own)
    more = f"; all syncs of one checkpoint took up to {_seconds(syncs)}" if syncs else ""
    return f"{program}: {call} took a second or more {_times(len(own))}, up to {_seconds(longest)}{all_of}{more}."


def _when(slow: Sequence[SlowCall]) -> str:
    found = clusters(slow)
    if not found:
        return "The log does not say when."
    if len(found) == 1 and len(found[0].calls) == 1:
        return f"It was logged at {found[0].calls[0].when}."
    if len(found) == 1:
        lasted = found[0].end_s - found[0].begin_s
        return f"All within {_seconds(lasted)}, until {found[0].calls[-1].when}."
    worst = max(found, key=lambda each: sum(call.took_s for call in each.calls))
    over = _long(found[-1].end_s - found[0].begin_s)
    words = f"In {len(found)} groups over {over}, the worst until {worst.calls[-1].when}"
    if regular := _period(found):
        return f"{words}, about every {_long(regular)}: look for what runs so often."
    return f"{words}."


def _period(found: Sequence[Cluster]) -> float | None:
    """Return the time between clusters, in s, if they come regularly."""
    if all(call.program == "PostgreSQL" for each in found for call in each.calls):
        return None  # it is the time between checkpoints
    gaps = [later.begin_s - earlier.begin_s for earlier, later in pairwise(found)]
    if len(gaps) < _LEAST_REGULAR - 1 or not fmean(gaps):
        return None
    return fmean(gaps) if pstdev(gaps) / fmean(gaps) <= _MOST_VARIED else None


def _points(slow: Sequence[SlowCall]) -> str:
    if all(call.program == "MySQL" for call in slow):
        return "That is no single call: a disk that is slow to take pages does it, as do too few processors."
    return "A sync waits for its own data, and for what others have ahead of it in the disk's queue or in the journal."


def slow_blocks(calls: Sequence[SlowCall]) -> list[Block]:
    """Return when calls were slow, what the lab has on it, and what to record next."""
    slow = _slow(calls)
    blocks: list[Block] = []
    syncs = [call for call in slow if call.program != "MySQL"]
    if syncs:
        blocks.append(Section("", (_COMMITS, "The lab shows it in:", Lines(("wblab run commit",))), close=True))
    if found := sorted(clusters(slow), key=lambda each: -sum(call.took_s for call in each.calls)):
        blocks.append(_table(found))
    comms = dict.fromkeys(form.comm for form in FORMS for call in slow if form.program == call.program)
    if comms:
        lines = [f"sh recorder.sh --comm {comm} --over 1s     # there, as root" for comm in comms]
        head = "To learn behind whose data it waits, record the next one:"
        blocks.append(_apart(head, Lines(("wblab recorder > recorder.sh", *lines))))
    return blocks


def _table(found: Sequence[Cluster]) -> Table:
    columns = (
        Column("until"),
        Column("program"),
        Column("calls", "number"),
        Column("longest", "number"),
        Column("in all", "number"),
    )
    rows = []
    for each in found[:1000]:
        who = ", ".join(dict.fromkeys(call.program for call in each.calls))
        least = "≥ " if any(call.program in _AT_LEAST for call in each.calls) else ""
        total = sum(call.took_s for call in each.calls)
        cells = (str(len(each.calls)), least + _seconds(each.longest_s), least + _seconds(total))
        rows.append(Row((each.calls[-1].when, who, *cells)))
    return Table(columns, tuple(rows), most=_MOST_ROWS)


def _silent(calls: Sequence[SlowCall]) -> list[str]:
    points = ["what each call waited for, and whose data were ahead of it: stacks or a recording say that"]
    programs = {call.program for call in calls}
    if "etcd" in programs:
        points.append("calls of less than a second: etcd logs none of them")
    if "PostgreSQL" in programs:
        points.append("how long commits took: these lines are of checkpoints; write= is spread over time on purpose")
    if "Redis" in programs:
        points.append("how long each sync lasted: Redis says only that it had not ended")
    if "MySQL" in programs:
        points.append("whether the machine slept or its clock jumped, which makes such rounds long too")
    if any(call.at_s is None for call in calls):
        points.append("when: lines without a time are not in groups")
    return points


def slow_data(calls: Sequence[SlowCall]) -> dict[str, Any]:
    """Return what programs read of it."""
    slow = _slow(calls)
    rows = []
    for program, call in dict.fromkeys((each.program, each.call) for each in calls):
        own = [each for each in slow if (each.program, each.call) == (program, call)]
        rows.append(
            {
                "program": program,
                "call": call,
                "messages": sum((each.program, each.call) == (program, call) for each in calls),
                "slow": len(own),
                "longest_s": max((each.took_s for each in own), default=None),
                "total_s": sum(each.took_s for each in own),
                "is_at_least": program in _AT_LEAST,
            }
        )
    groups = [
        {
            "until": each.calls[-1].when,
            "calls": len(each.calls),
            "longest_s": each.longest_s,
            "lasted_s": each.end_s - each.begin_s,
        }
        for each in clusters(slow)[:1000]
    ]
    return {"calls": rows, "groups": groups}


def _seconds(time_s: float) -> str:
    return quantity(time_s, "s")


def _long(time_s: float) -> str:
    for unit, length_s in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if time_s >= 2 * length_s:
            return f"{time_s / length_s:.0f} {unit}"
    return _seconds(time_s)


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _apart(*blocks: Block) -> Section:
    return Section("", (Section("", blocks, close=True),))
