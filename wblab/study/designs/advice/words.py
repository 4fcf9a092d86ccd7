"""The result of `wblab advise` as text and tables."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from wblab.analysis.statistics.intervals import Interval
from wblab.analysis.statistics.outcome import NOT_REPRODUCED, REPRODUCED
from wblab.lab.tables import Table
from wblab.report.enumeration import enumerated
from wblab.report.metricnames import metric_name, unit_of
from wblab.report.quantities import column, interval, quantity
from wblab.study.designs.advice.figures import Figures
from wblab.study.designs.advice.files import group_commands, install_commands, undo_commands
from wblab.study.designs.advice.plan import Option
from wblab.study.designs.advice.result import Result
from wblab.study.designs.twin.match import Match
from wblab.study.designs.witness.words import confirmed

_SPARE = (4, 3, 6)  # columns dropped on a narrow terminal; pauses and costs stay longest
_ORDER = "trust the order of the remedies, not the seconds"
_HEADS = ("remedy", "longest pause", "change", "wait time", "change", "offender", "change")


def opening(found: Result) -> list[str]:
    """Name the study and the machine."""
    site, tried = found.advice.site, len(found.others)
    seeds = len(found.now.outcomes)
    disks = ", ".join(site.disks) or site.device
    return [
        f"Study {found.path.name}: {site.directory} on {disks}; {tried} remed{'y' if tried == 1 else 'ies'} tried on "
        f"a twin of this machine, {seeds} seed{'s' * (seeds != 1)} each.",
        *found.advice.about[:1],
    ]


def table(found: Result) -> Table:
    """Return a table of all remedies: expected values, and differences with intervals."""
    rows = (found.now, *found.others)
    names = [row.name for row in rows]
    pauses = column([row.mean("longest_pause_s") for row in rows], "s")
    waits = column([row.mean("wait_time_s") for row in rows], "s")
    rates = column([row.mean("offender_bps") for row in rows], "bytes/s")
    shorter, sooner, slower = zip(*map(_differences, rows), strict=True)
    cells = zip(names, pauses, shorter, waits, sooner, rates, slower, strict=True)
    return Table(list(cells), _HEADS, frozenset({1, 3, 5}), _SPARE)


def second(options: Sequence[Option]) -> str:
    """Announce the second round."""
    names = list(dict.fromkeys(name for option in options for name in option.of))
    return f"wblab: second round: pairs of the remedies that help ({', '.join(names)})"


def left_out(found: Result, *, every: bool) -> list[str]:
    """List the remedies that were not tried, each with its reason (`every`), or give only their number."""
    reasons = found.advice.left_out
    if every or not reasons:
        return [f"not tried: {name}: {reason}" for name, reason in reasons.items()]
    number = "1 remedy was" if len(reasons) == 1 else f"{len(reasons)} remedies were"
    return [f"{number} not tried; --all says why."]


def recommended(found: Result) -> list[str]:
    """Give the recommendation, its reason, and the commands that set and undo it."""
    choice = found.choice
    if choice.name is None:
        return [f"No change is recommended: {choice.reason}."]
    candidate = found.advice.candidate(choice.name)
    reason = f"{choice.reason[0].upper()}{choice.reason[1:]}."
    lines = [f"Set {choice.name}: {candidate.about}. {reason}"]
    if candidate.has_group:
        return lines
    return [
        *lines,
        "To set it until the next boot, and to undo it:",
        f"    sudo wblab advise --resume {shlex.quote(str(found.path))} --apply {shlex.quote(choice.name)}",
        "    sudo wblab advise --undo",
    ]


def tried_outside(found: Result) -> list[str]:
    """Say what the recommended kind of setting did on stock kernels."""
    if found.choice.name is None:
        return []
    return [*confirmed(wanted.key for wanted in found.advice.candidate(found.choice.name).wanted), ""]


def installation(found: Result, written: Sequence[Path]) -> list[str]:
    """Give the commands that install the recommended files, and those that remove them."""
    if found.choice.name is None:
        return []
    candidate = found.advice.candidate(found.choice.name)
    lines = []
    for path in written:
        lines += [f"To keep it after a reboot ({path.name}):"]
        lines += [f"    {command}" for command in install_commands(path.name, found.advice.site, str(path.parent))]
        lines += ["and to undo it:"]
        lines += [f"    {command}" for command in undo_commands(path.name, candidate, found.advice)]
        lines += [""]
    if candidate.has_group:
        lines += [
            "Put the heavy writer into the group: a program with the first line, a service with the second in its "
            "[Service] section:"
        ]
        lines += [*(f"    {command}" for command in group_commands()), ""]
    return lines


def accuracy(found: Result, *, every: bool) -> list[str]:
    """Say how far the twin can be trusted, by comparison with a live run. every: list each mismatch."""
    if not found.advice.live:
        return [f"The twin was not compared with a live run: {_ORDER}. To compare it: wblab live, then --like RUN."]
    if not found.matches:
        return [f"The live run {found.advice.live} can no longer be read: {_ORDER}."]
    others = [item for item in found.matches if item.outcome != REPRODUCED]
    number = len(found.matches)
    if not others:
        return [f"The twin reproduces {number} of {number} metrics of the live run."]
    against = sum(item.outcome == NOT_REPRODUCED for item in others)
    words = {
        f"{number - len(others)} reproduced": number - len(others),
        f"{len(others) - against} undecided with {len(found.matches[0].twin)} seeds": len(others) - against,
    }
    said = enumerated([text for text, count in words.items() if count])
    verb = "contradicts" if against < 2 else "contradict"
    head = f"{against or 'None'} of {number} metrics of the live run {verb} the twin"
    text = f"{head}{', ' if said else ''}{said}: {_ORDER}{'.' if not every else '. Not reproduced:'}"
    return [text, *(map(_mismatch, others) if every else ())]


def explanation(found: Result) -> list[str]:
    """List the run directories behind each row of the table."""
    return [line for name, paths in found.runs.items() for line in (f"{name}:", *(f"    {path}" for path in paths))]


def _differences(row: Figures) -> tuple[str, str, str]:
    """Format how a remedy changes the longest pause, the wait time and the offender's rate."""
    return (
        _difference(row.longest_pause_s, "s"),
        _difference(row.wait_time_s, "s"),
        _difference(row.offender, "share"),
    )


def _difference(found: Interval | None, unit: str) -> str:
    return interval(found.estimate, found.low, found.high, unit, signed=True) if found else ""


def _mismatch(item: Match) -> str:
    live, twin = (quantity(value, unit_of(item.metric)) for value in (item.live or 0.0, item.median))
    return f"    {item.load}, {metric_name(item.metric)}: {live} live, {twin} in the twin: {item.outcome}"
