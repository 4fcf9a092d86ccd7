"""wblab pauses: the pauses of every load."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_bound,
    add_exp,
    add_json,
    add_run,
    named_run,
    print_wrapped,
    run_line,
    shown_run,
    traced,
)
from wblab.core.loads import KINDS, Load
from wblab.lab.printable import printable
from wblab.lab.tables import Table
from wblab.report.quantities import column, duration, percent, quantity, size

if TYPE_CHECKING:
    from wblab.analysis.runs.pauses import LoadPauses, PauseReport
    from wblab.analysis.runs.run import Run
    from wblab.analysis.runs.writers import Writer

_SHOWN = 6  # pauses of a load, and writers to a disk, that are listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Print the pauses of every load of a run and, for each disk, who wrote most to it."
    add_run(parser)
    add_exp(parser)
    add_bound(parser)
    parser.add_argument("--causes", action="store_true", help="also how much of them each cause explains (wblab why)")
    add_json(parser)
    parser.set_defaults(run=_pauses)


def _pauses(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.pauses import pause_report
    from wblab.analysis.runs.run import read_run
    from wblab.analysis.runs.writers import traces_dirtied_folios
    from wblab.core.units import parse_time

    bound_ns = parse_time(arguments.bound)
    run = read_run(named_run(arguments))
    cache = traced(run, "the list of writers") if traces_dirtied_folios(run) else None
    report = pause_report(run, bound_ns, cache)
    causes = _causes(run, bound_ns) if arguments.causes else {}
    if arguments.json:
        print(json.dumps(report.to_json() | ({"causes_ns": causes} if arguments.causes else {}), indent=2))
    else:
        why = [f"    wblab why {shown_run(run)}    # why, and what helps"] if run.spec.trace.events else []
        print_wrapped([run_line(run), headline(report), *why, ""])
        table(report).show()
        if causes:
            print()
            causes_table(causes).show()
        for text in top_writers(report):
            print(printable(text))
        for name, unplug_s in report.unplug_s.items():
            print(f"{name}: the disk went on writing its data for {quantity(unplug_s, 's')} after {name} had finished")
        for load in report.loads:
            if load.dropped:
                print(f"{load.name}: dropped the work of {load.dropped} of its {load.cycles} cycles, for lack of room")
            if error := report.errors.get(load.name):
                print(f"{load.name}: ended after {quantity(load.duration_s, 's')} with an error: {error}")
    if report.reason:
        print(f"wblab: this run did not succeed: {report.reason}", file=sys.stderr)
    if report.control_stall_s:
        print(
            f"wblab: this run is noisy: the control load stalled for {quantity(report.control_stall_s, 's')}, so the "
            "host disturbed it: repeat it on a quieter machine or with the virtual clock",
            file=sys.stderr,
        )


def _causes(run: "Run", bound_ns: int) -> dict[str, dict[str, int]]:
    from wblab.analysis.why.explanations import explanations
    from wblab.analysis.why.shares import by_load

    return by_load(item.explanation for item in explanations(run, bound_ns=bound_ns))


def causes_table(causes: dict[str, dict[str, int]]) -> Table:
    """Return the paused time of loads by cause as a table."""
    rows = [
        (load, what, duration(time_ns), percent(time_ns / sum(parts.values())))
        for load, parts in causes.items()
        for what, time_ns in parts.items()
    ]
    return Table(rows, ("load", "cause", "paused", "share"), frozenset((2, 3)))


def headline(report: "PauseReport") -> str:
    """Return one sentence: which innocent loads were stalled, how often and for how long."""
    loads = [load for load in report.loads if KINDS.get(load.kind, Load).role == "innocent"]
    stalled = sorted((load for load in loads if load.pauses), key=lambda load: -load.longest_pause_s)
    spared = [load.name for load in loads if not load.pauses]
    said = [
        f"{load.name} was stalled {_times(len(load.pauses))} {quantity(load.longest_pause_s, 's')}" for load in stalled
    ]
    said += [f"{' and '.join(spared)} had no pause over {quantity(report.bound_s, 's')}"] if spared else []
    return f"{'; '.join(said)}." if said else "The run has no innocent load."


def _times(count: int) -> str:
    return {1: "once, for", 2: "twice, for up to"}.get(count, f"{count} times, for up to")


def table(report: "PauseReport") -> Table:
    """Return the report as a table."""
    has_disks = any(load.disk for load in report.loads)
    first = ("load", "kind", "disk") if has_disks else ("load", "kind")
    heads = (*first, "cycles", "duration", "longest pause", "wait time", "total paused", "paused")
    loads = report.loads
    durations = column([load.duration_s for load in loads], "s")
    longest = column([load.longest_pause_s for load in loads], "s")
    waits = column([load.wait_time_s for load in loads], "s")
    totals = column([load.paused_s for load in loads], "s")
    rows = [
        (
            load.name,
            load.kind,
            *((load.disk or "-",) if has_disks else ()),
            f"{load.cycles}",
            *times,
            percent(load.paused_fraction),
            _listed(load),
        )
        for load, *times in zip(loads, durations, longest, waits, totals, strict=True)
    ]
    right = frozenset(range(len(first), len(heads)))
    # A narrow terminal drops the least important columns first: the list, the kind, the cycles, the duration.
    spare = (len(heads), 1, heads.index("cycles"), heads.index("duration"))
    return Table(rows, (*heads, f"pauses over {quantity(report.bound_s, 's')}, at"), right, spare)


def top_writers(report: "PauseReport") -> Iterator[str]:
    """Yield lines: who wrote most to each of several disks, and who dirtied most folios where the trace shows it."""
    for disk in dict.fromkeys(writer.disk for writer in report.writers):
        to = f" to {disk}" if disk else ""
        mine = [writer for writer in report.writers if writer.disk == disk]
        if disk and (known := [writer for writer in mine if writer.written_bytes is not None]):
            yield f"wrote most{to}: {_few(known, [size(writer.written_bytes or 0) for writer in known])}"
        if dirtying := sorted(filter(_folios, mine), key=_folios, reverse=True):
            counts = [f"{_folios(writer):,} folios" for writer in dirtying]
            yield f"dirtied most{' on ' + disk if disk else ''}: {_few(dirtying, counts)}"


def _folios(writer: "Writer") -> int:
    return writer.dirtied_folios or 0


def _few(writers: "Sequence[Writer]", amounts: Sequence[str]) -> str:
    shown = [f"{writer.task} ({amount})" for writer, amount in zip(writers, amounts, strict=True)][:_SHOWN]
    more = len(writers) - _SHOWN
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _listed(load: "LoadPauses") -> str:
    if not load.pauses:
        return "-"
    shown = ", ".join(f"{pause.start_s:.1f} s ({quantity(pause.duration_s, 's')})" for pause in load.pauses[:_SHOWN])
    more = len(load.pauses) - _SHOWN
    return shown + (f" and {more} more" if more > 0 else "")
