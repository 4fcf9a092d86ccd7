"""The pauses of a run in words: the headline, the table, and the lines below it."""

from collections.abc import Iterator, Sequence

from wblab.analysis.runs.pauses import LoadPauses, PauseReport
from wblab.analysis.runs.run import Run
from wblab.analysis.runs.writers import Writer
from wblab.core.loads import KINDS, Load
from wblab.core.spec import Spec
from wblab.lab.changes import changes
from wblab.lab.tables import Table
from wblab.report.quantities import column, percent, quantity, size

_SHOWN = 6  # pauses of a load, and writers to a disk, that are listed


def run_line(run: Run) -> str:
    """Return the first line of an answer: the run's name and its changes to the preset."""
    if not isinstance(run.spec, Spec):
        return f"Run {run.path.name}, live."
    changed = [f"seed {run.spec.seed}", *changes(run.spec)]
    return f"Run {run.path.name}: {run.spec.name}, {', '.join(changed)}."


def headline(report: PauseReport) -> str:
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


def table(report: PauseReport) -> Table:
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


def below(report: PauseReport) -> Iterator[str]:
    """Yield the lines below the table: who wrote most, what the disk still wrote, what was dropped, and errors."""
    yield from top_writers(report)
    for name, unplug_s in report.unplug_s.items():
        yield f"{name}: the disk went on writing its data for {quantity(unplug_s, 's')} after {name} had finished"
    for load in report.loads:
        if load.dropped:
            yield f"{load.name}: dropped the work of {load.dropped} of its {load.cycles} cycles, for lack of room"
        if error := report.errors.get(load.name):
            yield f"{load.name}: ended after {quantity(load.duration_s, 's')} with an error: {error}"


def top_writers(report: PauseReport) -> Iterator[str]:
    """Yield lines: who wrote most to each of several disks, and who dirtied most folios where the trace shows it."""
    for disk in dict.fromkeys(writer.disk for writer in report.writers):
        to = f" to {disk}" if disk else ""
        mine = [writer for writer in report.writers if writer.disk == disk]
        if disk and (known := [writer for writer in mine if writer.written_bytes is not None]):
            yield f"wrote most{to}: {_few(known, [size(writer.written_bytes or 0) for writer in known])}"
        if dirtying := sorted(filter(_folios, mine), key=_folios, reverse=True):
            counts = [f"{_folios(writer):,} folios" for writer in dirtying]
            yield f"dirtied most{' on ' + disk if disk else ''}: {_few(dirtying, counts)}"


def _folios(writer: Writer) -> int:
    return writer.dirtied_folios or 0


def _few(writers: Sequence[Writer], amounts: Sequence[str]) -> str:
    shown = [f"{writer.task} ({amount})" for writer, amount in zip(writers, amounts, strict=True)][:_SHOWN]
    more = len(writers) - _SHOWN
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _listed(load: LoadPauses) -> str:
    if not load.pauses:
        return "-"
    shown = ", ".join(f"{pause.start_s:.1f} s ({quantity(pause.duration_s, 's')})" for pause in load.pauses[:_SHOWN])
    more = len(load.pauses) - _SHOWN
    return shown + (f" and {more} more" if more > 0 else "")
