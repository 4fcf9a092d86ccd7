"""The pauses of a run in words: the headline, the table, and the lines below it."""

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from wblab.analysis.runs.pauses import LoadPauses, PauseReport
from wblab.analysis.runs.run import Run
from wblab.analysis.runs.writers import Writer
from wblab.core.loads import KINDS, Load
from wblab.core.spec import Spec
from wblab.lab.callings import called
from wblab.lab.changes import changes
from wblab.lab.places import RESULTS
from wblab.lab.specfile import LiveSpec
from wblab.report.listing import Listing
from wblab.report.quantities import column, duration, percent, quantity, size, span
from wblab.report.report import Lines, Report, Section

# Runs before and after a change of a machine, as one table. No interval: a live machine is not repeated by seeds.

_HEADS = ("load", "longest pause: before", "after", "wait time: before", "after", "duration: before", "after")
_SPARE = (3, 4)  # columns dropped on a narrow terminal


def before_after(before: Sequence[PauseReport], after: PauseReport) -> Listing:
    """Return a row for each load: of several runs before, the median and the range."""
    rows = []
    for load in after.loads:
        others = [other for report in before for other in report.loads if other.name == load.name]
        offends = KINDS.get(load.kind, Load).role == "offender"
        figures: list[Callable[[LoadPauses], float]] = [
            lambda item: item.longest_pause_s,
            lambda item: item.wait_time_s,
            lambda item: item.duration_s,
        ]
        cells = []
        for number, of in enumerate(figures):
            is_shown = offends == (number == len(figures) - 1)  # an offender works as long as it takes
            cells += [_cell([of(other) for other in others]), _cell([of(load)])] if is_shown else ["-", "-"]
        rows.append((load.name, *cells))
    return Listing(rows, _HEADS, frozenset(range(1, len(_HEADS))), _SPARE)


def changed(before: Run, after: Run) -> list[str]:
    """Return the settings of the machine that differ between two runs, as recorded, one line each."""
    one, other = _settings(before), _settings(after)
    keys = [key for key in one | other if key in one and key in other and one[key] != other[key]]
    lines = [f"    {key}: {one[key]} before, {other[key]} after" for key in keys]
    return ["What differs between the machines of the two runs:", *lines] if lines else ["No recorded setting differs."]


def _cell(values_s: Sequence[float]) -> str:
    if not values_s:
        return "-"
    middle = quantity(median(values_s), "s")
    return f"{middle} ({span(min(values_s), max(values_s), 's')})" if len(values_s) > 1 else middle


def _settings(run: Run) -> dict[str, str]:
    if not isinstance(run.spec, LiveSpec):
        return {}
    found = {key: str(value) for key, value in run.spec.sysctl.items()} | {"scheduler": run.spec.disk.scheduler}
    queues = (run.record.get("live") or {}).get("queues")
    for disk, queue in (queues if isinstance(queues, dict) else {}).items():
        found |= {f"{disk}: {key}": str(value) for key, value in (queue if isinstance(queue, dict) else {}).items()}
    return found


_SHOWN = 6  # pauses of a load, and writers to a disk, that are listed


def run_line(run: Run) -> str:
    """Return the first line of an answer: the run's name and its changes to the preset."""
    if not isinstance(run.spec, Spec):
        return f"Run {run.path.name}, live."
    changed = [f"seed {run.spec.seed}", *changes(run.spec)]
    return f"Run {run.path.name}: {run.spec.name}, {', '.join(changed)}."


def shown_run(run: Run) -> str:
    """Return the shortest text that names a run on a command line: its name, if it is among the results."""
    if run.path.parent.resolve() == RESULTS.resolve():
        return run.path.name
    path, below = str(run.path), os.path.relpath(run.path)
    return shlex.quote(below if len(below) < len(path) and not below.startswith("..") else path)


def headline(report: PauseReport, *, is_bare: bool = False) -> str:
    """Return one sentence: which innocent loads were stalled, how often and for how long.

    is_bare: loads have their names alone, without what a reader calls them, as in files that are handed on.
    """
    names = {load.name: load.name if is_bare else called(load.kind, load.name) for load in report.loads}
    loads = [load for load in report.loads if KINDS.get(load.kind, Load).role == "innocent"]
    stalled = sorted((load for load in loads if load.pauses), key=lambda load: -load.longest_pause_s)
    spared = [names[load.name] for load in loads if not load.pauses]
    said = [
        f"{names[load.name]} was stalled {_times(len(load.pauses))} {quantity(load.longest_pause_s, 's')}"
        for load in stalled
    ]
    said += [f"{' and '.join(spared)} had no pause over {quantity(report.bound_s, 's')}"] if spared else []
    return f"{'; '.join(said)}." if said else "The run has no innocent load."


def _times(count: int) -> str:
    return {1: "once, for", 2: "twice, for up to"}.get(count, f"{count} times, for up to")


def report(run: Run, found: PauseReport, causes: Mapping[str, Mapping[str, int]] | None = None) -> Report:
    """Return the report of a run's pauses. causes: the paused time of loads by cause, in ns, if that is wanted."""
    why = Lines((f"wblab why {shown_run(run)}    # why, and what helps",))
    *others, last = (table(found), *([_causes_table(causes)] if causes else []))
    more = Section("", (last.table(), Lines(tuple(below(found)), indent=0)), close=True)
    return Report(
        f"{run.name.lstrip('_')}: pauses",
        headline(found),
        (
            Section("", (why,) if run.spec.trace.events else (), close=True),
            *(each.table() for each in others),
            Section("", (more,)),
        ),
        data=found.to_json() | ({} if causes is None else {"causes_ns": causes}),
        about=(run_line(run),),
    )


def _causes_table(causes: Mapping[str, Mapping[str, int]]) -> Listing:
    """Return the paused time of loads by cause as a table."""
    rows = [
        (load, what, duration(time_ns), percent(time_ns / sum(parts.values())))
        for load, parts in causes.items()
        for what, time_ns in parts.items()
    ]
    return Listing(rows, ("load", "cause", "paused", "share"), frozenset((2, 3)))


def table(report: PauseReport) -> Listing:
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
    return Listing(rows, (*heads, f"pauses over {quantity(report.bound_s, 's')}, at"), right, spare)


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
    """Yield lines: who wrote most to each of several disks, and who dirtied most where the trace shows it."""
    for disk in dict.fromkeys(writer.disk for writer in report.writers):
        to = f" to {disk}" if disk else ""
        mine = [writer for writer in report.writers if writer.disk == disk]
        if disk and (known := [writer for writer in mine if writer.written_bytes is not None]):
            yield f"wrote most{to}: {_few(known, [size(writer.written_bytes or 0) for writer in known])}"
        if dirtying := sorted(filter(_amount, mine), key=_amount, reverse=True):
            yield f"dirtied most{' on ' + disk if disk else ''}: {_few(dirtying, list(map(_dirty, dirtying)))}"


def _amount(writer: Writer) -> int:
    """Return how much it dirtied, for comparison with others: bytes or, where these are not known, folios."""
    return (writer.dirtied_folios if writer.dirtied_bytes is None else writer.dirtied_bytes) or 0


def _dirty(writer: Writer) -> str:
    if writer.dirtied_bytes is None:  # a folio has one page or many
        return f"{writer.dirtied_folios or 0:,} folios of unknown size"
    return size(writer.dirtied_bytes)


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
