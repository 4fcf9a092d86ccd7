"""An advice in words and tables, for people."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from wblab.advise.figures import Figures
from wblab.advise.files import group_commands, install_commands, undo_commands
from wblab.advise.plan import Option
from wblab.advise.result import Result
from wblab.data.statistics import Interval
from wblab.lab.tables import Table
from wblab.report.metricnames import metric_name, unit_of
from wblab.report.quantities import column, interval, quantity
from wblab.twin.match import Match

_SPARE = (4, 3, 6)  # of a table on a narrow terminal: the pauses and what they cost are the last to go
_ORDER = "believe the order of the remedies, not the seconds"
_HEADS = ("remedy", "longest pause", "differs by", "wait time", "differs by", "offender", "differs by")


def opening(found: Result) -> list[str]:
    """Return of which advice and which machine all of it speaks."""
    site, tried = found.advice.site, len(found.others)
    seeds = len(found.now.outcomes)
    disks = ", ".join(site.disks) or site.device
    return [
        f"Advice {found.path.name}: {site.directory} on {disks}; {tried} remed{'y' if tried == 1 else 'ies'} tried on "
        f"a twin of this machine, {seeds} seed{'s' * (seeds != 1)} each.",
        *found.advice.about[:1],
    ]


def table(found: Result) -> Table:
    """Return the figures of all remedies: expected values, and differences with their intervals."""
    rows = (found.now, *found.others)
    names = [row.name for row in rows]
    pauses = column([row.mean("longest_pause_s") for row in rows], "s")
    waits = column([row.mean("wait_time_s") for row in rows], "s")
    rates = column([row.mean("offender_bps") for row in rows], "bytes/s")
    shorter, sooner, slower = zip(*map(_differences, rows), strict=True)
    cells = zip(names, pauses, shorter, waits, sooner, rates, slower, strict=True)
    return Table(list(cells), _HEADS, frozenset({1, 3, 5}), _SPARE)


def second(options: Sequence[Option]) -> str:
    """Return what is tried in the second round."""
    names = list(dict.fromkeys(name for option in options for name in option.of))
    return f"wblab: of those that help {', '.join(names[:-1])} and {names[-1]} are tried together, two at a time"


def left_out(found: Result, *, every: bool) -> list[str]:
    """Return which remedies were not tried. every: each with its reason; else how many."""
    reasons = found.advice.left_out
    if every or not reasons:
        return [f"not tried: {name}: {reason}" for name, reason in reasons.items()]
    said = "1 remedy was" if len(reasons) == 1 else f"{len(reasons)} remedies were"
    return [f"{said} not tried; --all says why."]


def recommended(found: Result) -> list[str]:
    """Return what is recommended and why, and the two commands that set it and undo that."""
    choice = found.choice
    if choice.name is None:
        return [f"No change is worth it: {choice.reason}."]
    candidate = found.advice.candidate(choice.name)
    reason = f"{choice.reason[0].upper()}{choice.reason[1:]}."
    lines = [f"Set {choice.name}: {candidate.about}. {reason}"]
    if candidate.has_group:
        return lines
    return [
        *lines,
        "Try it until the next boot, and undo it:",
        f"    sudo wblab advise --resume {shlex.quote(str(found.path))} --apply {shlex.quote(choice.name)}",
        "    sudo wblab advise --undo",
    ]


def to_keep(found: Result, written: Sequence[Path]) -> list[str]:
    """Return how the files of what is recommended are installed, and how that is undone."""
    if found.choice.name is None:
        return []
    candidate = found.advice.candidate(found.choice.name)
    lines = []
    for path in written:
        lines += [f"To keep it ({path.name}):"]
        lines += [f"    {command}" for command in install_commands(path.name, found.advice.site, str(path.parent))]
        lines += ["and to undo that:"]
        lines += [f"    {command}" for command in undo_commands(path.name, candidate, found.advice)]
        lines += [""]
    if candidate.has_group:
        lines += ["Put the heavy writer into its group: a program, and a service's [Service]:"]
        lines += [*(f"    {command}" for command in group_commands()), ""]
    return lines


def likeness(found: Result, *, every: bool) -> list[str]:
    """Return what the twin's figures are worth, by a live run where there is one. every: each figure that differs."""
    if not found.advice.live:
        return [f"No live run was compared with the twin: {_ORDER}. To compare: wblab live, then --like RUN."]
    if not found.matches:
        return [f"The live run {found.advice.live} cannot be read any more: {_ORDER}."]
    wrong = [item for item in found.matches if item.verdict != "matches"]
    said = f"The twin matches the live run in {len(found.matches) - len(wrong)} of {len(found.matches)} figures"
    if not wrong:
        return [f"{said}."]
    return [f"{said}: {_ORDER}{'.' if not every else '. What differs:'}", *(map(_mismatch, wrong) if every else ())]


def explanation(found: Result) -> list[str]:
    """Return the runs behind each figure."""
    return [line for name, paths in found.runs.items() for line in (f"{name}:", *(f"    {path}" for path in paths))]


def _differences(row: Figures) -> tuple[str, str, str]:
    """Return by how much a remedy changes the longest pause, the wait time and the offender's rate."""
    return (
        _difference(row.longest_pause_s, "s"),
        _difference(row.wait_time_s, "s"),
        _difference(row.offender, "share"),
    )


def _difference(found: Interval | None, unit: str) -> str:
    return interval(found.estimate, found.low, found.high, unit, signed=True) if found else ""


def _mismatch(item: Match) -> str:
    live, twin = (quantity(value, unit_of(item.metric)) for value in (item.live or 0.0, item.middle))
    return f"    {item.load}, {metric_name(item.metric)}: {live} live, {twin} in the twin"
