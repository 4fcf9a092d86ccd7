"""What a trace as text says of dirty limits, as a report."""

from dataclasses import asdict

from wblab.core.units import NS_PER_S
from wblab.foreign.throttletext import Slowed, Throttlings
from wblab.report.quantities import duration, enumerated, size
from wblab.report.report import Block, Column, Lines, Points, Report, Row, Section, Table

_MOST_ROWS, _MOST_NAMES = 12, 3
_ENDED = {
    "machine": "In the lab a strict limit for the slow disk ended it for writers to other disks: 0.04 s, not 10.2 s.",
    "disk": "That limit is the disk's own (max_ratio, max_bytes or strict_limit in /sys/class/bdi): it was set there.",
    "group": "That limit follows the memory that the group may have: a higher memory.max or memory.high raises it.",
    "": "",
}


def throttle_report(name: str, found: Throttlings) -> Report:
    """Return the report on the throttling in a trace. name: of its file."""
    decisions = f"{found.decisions} decision{'s' * (found.decisions != 1)}"
    about = (f"{name}: a trace with {decisions} on dirty limits", "")
    data = {
        "file": name,
        "kind": "throttling",
        "decisions": found.decisions,
        "impossible": found.impossible,
        "has_state": found.has_state,
        "is_cut": found.is_cut,
        "slowed": [asdict(item) for item in found.slowed],
    }
    title = f"{name}: which dirty limit?"
    if not found.slowed:
        slept = f"No dirty limit slowed a task: of {found.decisions} decisions none made one sleep."
        said = (
            f"{slept if found.decisions else 'Whether a dirty limit slowed a task, it does not say.'}{_defect(found)}"
        )
        return Report(title, said, (), data=data, about=about)
    blocks: list[Block] = []
    first = found.slowed[0]
    if _ENDED[first.of]:
        blocks.append(Section("", (_ENDED[first.of],), close=True))
    if first.of == "machine":
        shows = ("The lab shows this state in:", Lines(("wblab run base-device", "wblab run two-disks")))
        blocks.append(Section("", shows, close=True))
    blocks.append(_table(found))
    blocks.append(Section("", (Section("", ("What this text cannot tell:", _silent(found)), close=True),)))
    return Report(title, _headline(found), tuple(blocks), data=data, about=about)


def _headline(found: Throttlings) -> str:
    first = found.slowed[0]
    alike = [item for item in found.slowed if (item.of, item.group) == (first.of, first.group)]
    if first.of == "disk":
        alike = [item for item in alike if item.disk == first.disk]
    names = list(dict.fromkeys(item.comm for item in alike))
    who = enumerated(names[:_MOST_NAMES] + ([f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []))
    slept = _seconds(sum(item.slept_s for item in alike))
    longest = max(alike, key=lambda item: item.longest_s)
    return (
        f"{who} slept {slept} in all at {_whose(first)}, for up to {_seconds(longest.longest_s)} at a time. Then "
        f"{size(longest.dirty)} counted as dirty, {size(longest.on_disk)} of it for the disk {longest.disk}; the limit "
        f"was {size(longest.limit)}.{_defect(found)}"
    )


def _whose(item: Slowed) -> str:
    return {
        "machine": "the machine's dirty limit",
        "disk": f"the own dirty limit of the disk {item.disk}",
        "group": f"the dirty limit of a control group (inode {item.group})",
        "": "a dirty limit, the machine's or a control group's",
    }[item.of]


def _defect(found: Throttlings) -> str:
    if not found.impossible:
        return ""
    lines = "1 line has" if found.impossible == 1 else f"{found.impossible} lines have"
    return f" {lines} counts that cannot be, below zero: a defect of that kernel; they are left out."


def _table(found: Throttlings) -> Table:
    columns = (
        *(Column("task"), Column("disk"), Column("slept", "number"), Column("at most", "number")),
        *(Column("dirty", "number", 1), Column("limit", "number", 1), Column("limit of", "prose")),
    )
    rows = tuple(
        Row(
            (
                *(item.comm, item.disk, _seconds(item.slept_s), _seconds(item.longest_s)),
                *(size(item.dirty), size(item.limit), item.of or "not to be told"),
            )
        )
        for item in found.slowed
    )
    return Table(columns, rows, most=_MOST_ROWS)


def _silent(found: Throttlings) -> Points:
    points = ["whose data were dirty: the kernel counts them by disk, not by program"]
    points.append("how large a page is: 4 KiB is assumed")
    if not found.has_state:
        points.append(
            "the machine's own counts (the event global_dirty_state), by which a control group's limit is known"
        )
    if found.is_cut:
        points.append("what came later: the text is longer than was read")
    return Points(tuple(points))


def _seconds(time_s: float) -> str:
    return duration(time_s * NS_PER_S)
