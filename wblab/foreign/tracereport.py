"""What tasks of a trace slept for, as a report."""

from typing import Any

from wblab.core.units import NS_PER_S
from wblab.foreign.judge import UNKNOWN
from wblab.foreign.tracewaits import Slept, TraceWaits
from wblab.report.quantities import duration
from wblab.report.report import Block, Column, Lines, Points, Report, Row, Section, Table

RECORD = "trace-cmd record -e sched_switch -R stacktrace -e sched_waking -e writeback -e block sleep 60"
_MOST_WAITS = 3


def trace_report(name: str, found: TraceWaits) -> Report:
    """Return the report on a trace. name: of its file."""
    about = (f"{name}: a trace of {duration(found.span_ns)}", "")
    title = f"{name}: what did its tasks sleep for?"
    data = {"file": name, "kind": "trace", "span_ns": found.span_ns, "has_stacks": found.has_stacks}
    data["tasks"] = [_row(item) for item in found.slept]
    if not found.slept:
        return Report(
            title,
            "No task of it slept in D, uninterruptibly, as those do that wait for a disk.",
            (),
            about=about,
            data=data,
        )
    first = found.slept[0]
    waits = "; ".join(f"{duration(ns)} {wait.what}" for wait, ns in first.waits_ns[:_MOST_WAITS])
    reasons = f": {waits}" if found.has_stacks else ". The trace has no stacks, so it does not say for what"
    said = (
        f"{first.comm} ({first.pid}) slept longest in D, {duration(first.blocked_ns)} in all{reasons}. Its longest "
        f"sleep was {duration(first.longest_ns)}, from {first.longest_at_ns / NS_PER_S:.3f} s on."
    )
    rows = tuple(
        Row((f"{item.comm} ({item.pid})", duration(item.blocked_ns), duration(item.longest_ns), _main(item, found)))
        for item in found.slept
    )
    columns = Column("task"), Column("in D", "number"), Column("longest", "number"), Column("most of it", "prose")
    silent: list[str] = ["who woke the sleeper, so the sleeper's stack alone says what it waited for"]
    blocks: list[Block] = [Table(columns, rows, most=12)]
    if not found.has_stacks or any(wait.kind == UNKNOWN for item in found.slept for wait, _ in item.waits_ns):
        blocks.append(Section("", (Section("", ("To record stacks too:", Lines((RECORD,))), close=True),)))
    blocks.append(Section("", (Section("", ("What this answer leaves out:", Points(tuple(silent))), close=True),)))
    return Report(title, said, tuple(blocks), about=about, data=data)


def _main(item: Slept, found: TraceWaits) -> str:
    wait, time_ns = item.waits_ns[0]
    return f"{duration(time_ns)} {wait.what}" if found.has_stacks else ""


def _row(item: Slept) -> dict[str, Any]:
    return {
        "comm": item.comm,
        "pid": item.pid,
        "blocked_ns": item.blocked_ns,
        "longest_ns": item.longest_ns,
        "longest_at_ns": item.longest_at_ns,
        "waits": [
            {"kind": wait.kind, "what": wait.what, "function": wait.where, "time_ns": ns} for wait, ns in item.waits_ns
        ],
    }
