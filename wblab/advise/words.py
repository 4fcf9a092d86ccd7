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
_HEADS = ("remedy", "longest pause", "differs by", "wait time", "differs by", "offender", "differs by")


def table(found: Result) -> Table:
    """Return the figures of all remedies: expected values, and differences with their intervals."""
    rows = [_row(row) for row in (found.now, *found.others)]
    return Table(rows, _HEADS, frozenset({1, 3, 5}))


def second(options: Sequence[Option]) -> str:
    """Return what is tried in the second round."""
    names = list(dict.fromkeys(name for option in options for name in option.of))
    return f"wblab: of those that help {', '.join(names[:-1])} and {names[-1]} are tried together, two at a time"


def left_out(found: Result) -> list[str]:
    """Return which remedies were not tried, and why."""
    return [f"not tried: {name}: {reason}" for name, reason in found.advice.left_out.items()]


def recommended(found: Result, written: Sequence[Path]) -> list[str]:
    """Return what is recommended and why, where its files are, and how they are installed and undone."""
    choice = found.choice
    if choice.name is None:
        return [f"No change is worth it: {choice.reason}."]
    candidate = found.advice.candidate(choice.name)
    lines = [f"Recommended: {choice.name}: {candidate.about}.", f"{choice.reason[0].upper()}{choice.reason[1:]}."]
    lines += ["", "To try it until the next boot, and to undo that:"]
    if candidate.has_group:
        lines[-1:] = ["Who writes much has to be put into its group; a program, and a service's [Service]:"]
        lines += [f"    {command}" for command in group_commands()]
    else:
        where = shlex.quote(str(found.path))
        lines += [
            f"    sudo wblab advise --resume {where} --apply {shlex.quote(choice.name)}",
            "    sudo wblab advise --undo",
        ]
    for path in written:
        lines += ["", f"To keep it ({path.name}):"]
        lines += [f"    {command}" for command in install_commands(path.name, found.advice.site, str(path.parent))]
        lines += ["and to undo that:"]
        lines += [f"    {command}" for command in undo_commands(path.name, candidate, found.advice)]
    return lines


def likeness(found: Result) -> list[str]:
    """Return how well the twin matched a live run; nothing where it was made from none."""
    if not found.advice.live:
        return ["Whether the twin is like this machine can be seen with a live run of it: --like RUN (wblab live)."]
    if not found.matches:
        return [f"The live run {found.advice.live} cannot be read any more: whether the twin is like it is not known."]
    wrong = [item for item in found.matches if item.verdict != "matches"]
    said = f"The twin matches the live run in {len(found.matches) - len(wrong)} of {len(found.matches)} figures"
    return [f"{said}{':' if wrong else '.'}", *map(_mismatch, wrong)]


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
