"""Lanes in a terminal: a row of block characters for each load, at most 80 columns, without colour."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from wblab.analysis.runs.lanes import Lane, Lanes, axis_ns
from wblab.analysis.runs.run import Run
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S
from wblab.lab.changes import changes
from wblab.lab.printable import printable
from wblab.report.quantities import duration

WIDTH = 80
MOST_LANES = 8  # of a run
_NAME, _FIGURE = 13, 7  # columns: of a name, and of the longest freeze
_TICKS = 5  # at most, on the axis of time
_STEPS = (1, 2, 5)


@dataclass(frozen=True)
class Blocks:
    """The characters of a lane. levels: of a column that is frozen for more and more of its time."""

    works: str
    levels: str
    offends: str

    @property
    def key(self) -> str:
        """What they mean."""
        return f"{self.works} works, {self.levels[-1]} frozen, {self.offends} writes fast"


BLOCKS = Blocks("▁", "▃▄▅▆▇█", "░")
ASCII = Blocks("_", ":#", "/")


def blocks_for(encoding: str | None) -> Blocks:
    """Return the characters that an encoding can print."""
    try:
        "".join((BLOCKS.works, BLOCKS.levels, BLOCKS.offends)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def lanes_lines(runs: Sequence[Lanes], blocks: Blocks | None = None, width: int = WIDTH) -> list[str]:
    """Return the lines of runs below each other on one time axis; nothing if no load was ever frozen.

    blocks: by default those that standard output can print. Runs have their titles above them if there are several.
    """
    if not any(lane.frozen_ns for run in runs for lane in run.lanes):
        return []
    blocks = blocks or blocks_for(sys.stdout.encoding)
    shown, axis = [run.shown(MOST_LANES) for run in runs], max(1, axis_ns(runs))
    names = min(_NAME, max(len(_label(lane)) for lanes in shown for lane in lanes))
    columns = width - names - _FIGURE - 2
    lines = []
    for run, lanes in zip(runs, shown, strict=True):
        if len(runs) > 1:
            said = f"longest freeze {duration(run.longest_ns)}" if run.longest_ns else "no freeze"
            lines.append(f"{_short(run.title, width - len(said) - 2):<{width - len(said)}}{said}")
        for lane in lanes:
            figure = duration(lane.longest_ns) if lane.frozen_ns else ""
            drawn = lane_text(lane, axis, columns, blocks)
            lines.append(f"{_short(_label(lane), names):<{names}} {drawn} {figure:>{_FIGURE}}".rstrip())
    return [*lines, " " * (names + 1) + _axis(axis, columns), " " * (names + 1) + blocks.key]


def lane_text(lane: Lane, axis: int, columns: int, blocks: Blocks) -> str:
    """Return one lane: a character for each column, which is a part of the time axis of `axis` ns."""
    frozen_ns = [0] * columns
    for start_ns, end_ns in lane.frozen_ns:
        for at in range(start_ns * columns // axis, min(columns, -(-end_ns * columns // axis))):
            frozen_ns[at] += min(end_ns, (at + 1) * axis // columns) - max(start_ns, at * axis // columns)
    text, most = "", len(blocks.levels)
    first, last = lane.start_ns * columns // axis, -(-lane.end_ns * columns // axis)
    for at, of_column in enumerate(frozen_ns):
        if of_column > 0:
            text += blocks.levels[min(most - 1, of_column * most * columns // axis)]
        elif lane.worked and first <= at < last:
            text += blocks.offends if lane.role == "offender" else blocks.works
        else:
            text += " "
    return text


def _label(lane: Lane) -> str:
    """What a lane is called; its name if that is too long: `database db-image` and `database db-host` begin alike."""
    called = printable(lane.called)
    return called if len(called) <= _NAME else printable(lane.name)


def _short(text: str, width: int) -> str:
    text = printable(text)
    return text if len(text) <= width else f"{text[: max(0, width - 3)]}..."


def _axis(axis: int, columns: int) -> str:
    """Return the line below the lanes: seconds at round times."""
    rough, power = axis / NS_PER_S / _TICKS, 1.0
    while power < rough / 10:
        power *= 10
    while power > rough:
        power /= 10
    step = next((power * each for each in _STEPS if power * each >= rough), power * 10)
    line, at = "", 0
    while (column := round(at * step * NS_PER_S / axis * columns)) < columns:
        text = f"{at * step:g}" + (" s" if at == 0 else "")
        if column + len(text) <= columns:
            line = line.ljust(column) + text
        at += 1
    return line


def in_words(runs: Sequence[Lanes]) -> str:
    """Return what one sees on the lanes of runs: who freezes, and for how long at most."""
    return ". ".join(f"{run.title}: {_frozen(run)}" for run in runs)


def _frozen(run: Lanes) -> str:
    """Return the innocent loads that were frozen, those for equally long together."""
    by_time: dict[str, list[str]] = {}
    for lane in run.lanes:
        if lane.role == "innocent" and lane.frozen_ns:
            by_time.setdefault(duration(lane.longest_ns), []).append(lane.called)
    parts = [f"{' and '.join(names)} for up to {time}" for time, names in by_time.items()]
    if not parts:
        return "nobody freezes"
    names, _, rest = parts[0].partition(" for ")
    return ", ".join([f"{names} freeze{'' if ' and ' in names else 's'} for {rest}", *parts[1:]])


def titles(runs: Sequence[Run]) -> list[str]:
    """Return a title for each run: its preset and what it changes of that; the seed and kernel only if they differ."""
    seeds = {run.spec.seed for run in runs if isinstance(run.spec, Spec)}
    kernels = {_release(run) for run in runs}
    return [_title(run, has_seed=len(seeds) > 1, has_kernel=len(kernels) > 1) for run in runs]


def _title(run: Run, *, has_seed: bool, has_kernel: bool) -> str:
    where = [f"Linux {_release(run)}"] if has_kernel else []
    if not isinstance(run.spec, Spec):
        return ", ".join([run.name.lstrip("_"), *where])
    seed = [f"seed {run.spec.seed}"] if has_seed else []
    return ", ".join([run.spec.name, *where, *seed, *changes(run.spec)])


def _release(run: Run) -> str:
    kernel = run.record.get("kernel")
    return str(kernel.get("release", "unknown")) if isinstance(kernel, dict) else "unknown"
