"""An advice as a report: what to set and how to undo it, how far to trust that, and what every remedy does."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from wblab.analysis.statistics.decision import NOT_REPRODUCED, REPRODUCED
from wblab.analysis.statistics.intervals import Interval
from wblab.lab.formats import EXPERIMENT, RUNS
from wblab.live.advise.figures import RemedyFigures
from wblab.live.advise.files import group_commands, install_commands, undo_commands
from wblab.live.advise.ofgroup import lines_for
from wblab.live.advise.plan import unknown_in
from wblab.live.advise.result import AdviceResult
from wblab.live.twin.result import Match
from wblab.report.elsewhere import NOTHING, OUTSIDE, tried_outside
from wblab.report.quantities import column, enumerated, interval, metric_name, quantity, unit_of
from wblab.report.report import Block, Column, Lines, Medium, Points, Report, Row, Section, Span, Table, Words

_ORDER = "trust the order of the remedies, not the seconds"
# Where a terminal is narrow, pauses and rates stay longest.
_COLUMNS = (
    Column("remedy"),
    Column("longest pause", "number"),
    Column("change"),
    Column("wait time", "number", 2),
    Column("change", "name", 3),
    Column("offender", "number"),
    Column("change", "name", 1),
)


def report(
    found: AdviceResult,
    written: Sequence[Path] = (),
    *,
    every: bool = False,
    explain: bool = False,
    group: Path | None = None,
) -> Report:
    """Return the report of an advice. written: the files that install the remedy.

    every, explain: have a terminal show what else only a page unfolds: what was not tried and what does not match a
    live run; and the runs behind each row. group: a control group that is there, for which limits are printed.
    """
    site, name = found.advice.site, found.choice.name
    more: Medium = "terminal" if every else "folded"
    return Report(
        title=f"What to set for {site.directory} on {', '.join(site.disks) or site.device}",
        headline=f"Set {name}: {found.advice.candidate(name).about}." if name else "No change is recommended.",
        blocks=(
            f"{found.choice.reason[0].upper()}{found.choice.reason[1:]}.",
            *_until_boot(found),
            *_outside(found),
            _accuracy(found),
            *_listed("Metrics that the twin does not reproduce", map(_mismatch, _unlike(found)), more),
            Section("What each remedy does", _effects(found)),
            *_listed("Not tried", (f"{one}: {why}" for one, why in found.advice.left_out.items()), more),
            *_listed("The runs of each remedy", _runs(found), "terminal" if explain else "folded"),
            *_installation(found, written),
            *_for_group(found, group),
        ),
        notes=found.advice.notes,
        data=found.to_json() | {"written": [str(path) for path in written]},
    )


def _until_boot(found: AdviceResult) -> Iterator[Block]:
    """Yield the commands that set the recommended remedy until the next boot, and undo it."""
    name = found.choice.name
    if name and not found.advice.elsewhere and not found.advice.candidate(name).has_group:
        study = shlex.quote(str(found.path))
        yield "To set it until the next boot, and to undo it:"
        yield Lines((f"sudo wblab advise --resume {study} --apply {shlex.quote(name)}", "sudo wblab advise --undo"))


def _outside(found: AdviceResult) -> Iterator[Block]:
    """Yield what the recommended kind of setting did on stock kernels."""
    if found.choice.name:
        keys = [wanted.key for wanted in found.advice.candidate(found.choice.name).wanted]
        said = tuple(tried_outside(keys))
        yield Section(OUTSIDE, (Points(said),)) if said else NOTHING


def _accuracy(found: AdviceResult) -> str:
    """Return how far the twin can be trusted, by comparison with a live run."""
    if not found.advice.live:
        how = "" if found.advice.elsewhere else " To compare it: wblab live, then --like RUN."
        return f"The twin was not compared with a live run: {_ORDER}.{how}"
    if not found.matches:
        return f"The live run {found.advice.live} can no longer be read: {_ORDER}."
    others, number = _unlike(found), len(found.matches)
    if not others:
        return f"The twin reproduces {number} of {number} metrics of the live run."
    against = sum(item.outcome == NOT_REPRODUCED for item in others)
    words = {
        f"{number - len(others)} reproduced": number - len(others),
        f"{len(others) - against} undecided with {len(found.matches[0].twin)} seeds": len(others) - against,
    }
    said = enumerated([text for text, count in words.items() if count])
    verb = "contradicts" if against < 2 else "contradict"
    head = f"{against or 'None'} of {number} metrics of the live run {verb} the twin"
    return f"{head}{', ' if said else ''}{said}: {_ORDER}."


def _unlike(found: AdviceResult) -> list[Match]:
    return [item for item in found.matches if item.outcome != REPRODUCED]


def _mismatch(item: Match) -> str:
    live, twin = (quantity(value, unit_of(item.metric)) for value in (item.live or 0.0, item.median))
    return f"{item.load}, {metric_name(item.metric)}: {live} live, {twin} in the twin: {item.outcome}"


def _listed(head: str, items: Iterator[Words], place: Medium) -> Iterator[Section]:
    if found := tuple(items):
        yield Section(head, (Points(found),), place)


def _effects(found: AdviceResult) -> tuple[Block, ...]:
    """Return what was tried where, and the expected values and differences of all remedies."""
    tried, seeds = len(found.others), len(found.now.outcomes)
    of = "that" if found.advice.elsewhere else "this"
    what = f"{tried} remed{'y' if tried == 1 else 'ies'} tried on a twin of {of} machine"
    rows = (found.now, *found.others)
    names = [Span(row.name, form="bold") if row.name == found.choice.name else row.name for row in rows]
    pauses = column([row.mean("longest_pause_s") for row in rows], "s")
    waits = column([row.mean("wait_time_s") for row in rows], "s")
    rates = column([row.mean("offender_bps") for row in rows], "bytes/s")
    shorter, sooner, slower = zip(*map(_differences, rows), strict=True)
    sizes = list(found.now.parts)
    by_size = [column([row.parts[block].mean("longest_pause_s") for row in rows], "s") for block in sizes]
    short = [case.removeprefix("blocks of ").removesuffix(" at a time") for case in sizes]
    heads = tuple(Column(case, "number", 4 + place) for place, case in enumerate(short))
    cells = zip(names, pauses, shorter, waits, sooner, rates, slower, *by_size, strict=True)
    table = Table((*_COLUMNS, *heads), tuple(map(Row, cells)))
    both = (
        (
            f"Nobody knows {' and '.join(unknown_in(sizes))}, so each was tried with {'; '.join(sizes)}: a remedy must "
            "help with each, and the longest pause of each seed counts.",
        )
        if sizes
        else ()
    )
    return f"{what}, {seeds} seed{'s' * (seeds != 1)} each.", *both, *found.advice.about[:2], table


def _differences(row: RemedyFigures) -> tuple[str, str, str]:
    """Return how a remedy changes the longest pause, the wait time and the offender's rate."""
    return (
        _difference(row.longest_pause_s, "s"),
        _difference(row.wait_time_s, "s"),
        _difference(row.offender, "share"),
    )


def _difference(found: Interval | None, unit: str) -> str:
    return interval(found.estimate, found.low, found.high, unit, signed=True) if found else ""


def _for_group(found: AdviceResult, group: Path | None) -> Iterator[Block]:
    """Yield the limits of tried remedies as commands for a control group that is there."""
    if group is None:
        return
    rows = {
        name: tuple(lines_for(group, found.advice.candidate(name), found.advice))
        for name in (row.name for row in found.others)
    }
    if not any(rows.values()):
        yield f"No remedy for a control group was tried; --all says why. {group} stays as it is."
        return
    is_worse = {row.name for row in found.others if row.longest_pause_s and row.longest_pause_s.estimate >= 0}
    vain = [name for name, lines in rows.items() if lines and name in is_worse]
    if len(vain) < sum(map(bool, rows.values())):
        yield f"For the control group {group}, until it is made anew; what each does is in the table:"
    for name, lines in rows.items():
        if lines and name not in vain:
            yield f"{name}:"
            yield Lines(lines)
    if vain:
        yield f"Not for {group}, as the longest pause was no shorter: {enumerated(vain)}."


def _runs(found: AdviceResult) -> Iterator[Words]:
    """Yield the runs of each row of the table."""
    for name, paths in found.runs.items():
        links = [Span(path.name, link=f"{RUNS}/{path.name}/{EXPERIMENT}") for path in paths]
        yield (f"{name}: ", *(part for at, link in enumerate(links) for part in ((", ", link) if at else (link,))))


def _installation(found: AdviceResult, written: Sequence[Path]) -> Iterator[Block]:
    """Yield the commands that install the recommended files, and those that remove them."""
    if found.choice.name is None:
        return
    candidate = found.advice.candidate(found.choice.name)
    for path in written:
        directory = "" if found.advice.elsewhere else str(path.parent)
        install = install_commands(path.name, found.advice.site, directory)
        undo = undo_commands(path.name, candidate, found.advice)
        commands = (Lines(tuple(install)), "To undo it:", Lines(tuple(undo)))
        what = "Take this file to that machine" if found.advice.elsewhere else "To keep it after a reboot"
        yield Section(f"{what}: {path.name}", commands)
    if candidate.has_group:
        yield (
            "Put the heavy writer into the group: a program with the first line, a service with the second in its "
            "[Service] section:"
        )
        yield Lines(tuple(group_commands()))
