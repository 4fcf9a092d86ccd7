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
from wblab.twin.match import Match

_MIB = 1 << 20
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
    rows = [_row(row) for row in (found.now, *found.others)]
    return Table(rows, _HEADS, frozenset({1, 3, 5}), _SPARE)


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


def _row(row: Figures) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.mean('longest_pause_s'):.2f} s",
        _seconds(row.longest_pause_s),
        f"{row.mean('wait_time_s'):.3f} s",
        _seconds(row.wait_time_s, 3),
        f"{row.mean('offender_bps') / _MIB:.0f} MiB/s",
        _share(row.offender),
    )


def _seconds(found: Interval | None, digits: int = 2) -> str:
    if found is None:
        return ""
    if found.low is None or found.high is None:
        return f"{found.estimate:+.{digits}f} s"
    return f"{found.estimate:+.{digits}f} s ({found.low:+.{digits}f} to {found.high:+.{digits}f})"


def _share(found: Interval | None) -> str:
    if found is None:
        return ""
    if found.low is None or found.high is None:
        return f"{found.estimate:+.0%}"
    return f"{found.estimate:+.0%} ({found.low:+.0%} to {found.high:+.0%})"


def _mismatch(item: Match) -> str:
    is_share = item.metric == "paused_fraction"
    live, twin = (f"{value:.1%}" if is_share else f"{value:.2f} s" for value in (item.live or 0.0, item.middle))
    return f"    {item.load}, {item.metric.removesuffix('_s').replace('_', ' ')}: {live} live, {twin} in the twin"
