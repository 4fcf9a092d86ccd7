"""What a trace as text says of disks and of dirty memory, as a report."""

from dataclasses import asdict
from typing import Any

from wblab.foreign.eventtext import DiskEvents, Events, Request
from wblab.report.quantities import quantity, size
from wblab.report.report import Block, Column, Points, Report, Row, Section, Table

_MOST_ROWS, _MOST_DISKS = 12, 200
_LONG_S = 0.1  # a request that takes so long is noticed


def event_report(name: str, found: Events) -> Report:
    """Return the report on the events of disks and of dirty memory in a trace. name: of its file."""
    return Report(
        f"{name}: what did its disks do?",
        event_headline(found),
        (*event_blocks(found), _apart("What this text cannot tell:", Points(tuple(_silent(found))))),
        data={"file": name, "kind": "events", **event_data(found)},
        about=(f"{name}: a trace as text, without switches of tasks", ""),
    )


def event_headline(found: Events) -> str:
    """Return what took longest, and whether the machine's limit slowed those who wrote."""
    said = []
    every = [item for of in found.disks.values() for item in (of.longest, of.left) if item]
    if every:
        longest = max(every, key=lambda item: item.took_s)
        took = "took" if longest.is_over else "was not over after"
        said.append(f"A {_what(longest)} the disk {longest.disk} {took} {_seconds(longest.took_s)}.")
        if longest.took_s >= _LONG_S:
            said.append(f"{longest.comm} issued it; a program that waits for it waits as long.")
    if dirty := found.dirty:
        begin = size(dirty.slowed_from_bytes)
        is_slowed = dirty.dirty_bytes > dirty.slowed_from_bytes
        slowed, free = (
            f", and beyond {begin} the kernel slows all who write",
            f": the machine's limit slows from {begin}",
        )
        said.append(f"Up to {size(dirty.dirty_bytes)} were dirty or being written{slowed if is_slowed else free}.")
    if found.impossible:
        lines = "1 line has" if found.impossible == 1 else f"{found.impossible} lines have"
        said.append(f"{lines} counts that cannot be, below zero: a defect of that kernel; they are left out.")
    return " ".join(said) or "No request of a disk is whole in it."


def event_blocks(found: Events) -> list[Block]:
    """Return a row for each disk."""
    columns = (
        *(Column("disk"), Column("requests", "number"), Column("written", "number"), Column("longest", "number")),
        *(Column("not over", "number"), Column("the kernel reckons", "number", 1)),
    )
    rows = [Row((disk, *_cells(of))) for disk, of in list(found.disks.items())[:_MOST_DISKS]]
    if not rows:
        return []
    kept = [at for at in range(len(columns)) if any(row.cells[at] for row in rows)]
    shown = tuple(Row(tuple(row.cells[at] for at in kept)) for row in rows)
    return [Table(tuple(columns[at] for at in kept), shown, most=_MOST_ROWS)]


def event_data(found: Events) -> dict[str, Any]:
    """Return what programs read of it."""
    return {
        "disks": {disk: asdict(of) for disk, of in list(found.disks.items())[:_MOST_DISKS]},
        "dirty": asdict(found.dirty) if found.dirty else None,
        "impossible": found.impossible,
        "is_cut": found.is_cut,
    }


def _cells(of: DiskEvents) -> tuple[str, ...]:
    return (
        str(of.requests or ""),
        size(of.written_bytes) if of.written_bytes else "",
        _seconds(of.longest.took_s) if of.longest else "",
        f"over {_seconds(of.left.took_s)}" if of.left and of.left.took_s else "",
        quantity(of.rate_bps, "bytes/s") if of.rate_bps else "",
    )


def _what(item: Request) -> str:
    kind = "write of" if item.is_write else "request of"
    return f"{kind} {size(item.size_bytes)} to"


def _silent(found: Events) -> list[str]:
    points = ["who slept, for what and for how long: sched_switch with stacks says that"]
    if not any(of.requests for of in found.disks.values()):
        points.append("what disks did: block_rq_issue and block_rq_complete say that")
    if found.dirty is None:
        points.append("what was dirty: global_dirty_state says that")
    else:
        points.append("how large a page is: 4 KiB is assumed")
    if found.is_cut:
        points.append("what came later: the text is longer than was read")
    return points


def _seconds(time_s: float) -> str:
    return quantity(time_s, "s")


def _apart(*blocks: Block) -> Section:
    return Section("", (Section("", blocks, close=True),))
