"""The widgets by which a spec is changed: a number for a threshold or the queue, a text field for any other key."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import ipywidgets

from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.runs.run import Run
from wblab.core.errors import InputError, nearest
from wblab.core.units import parse_bytes
from wblab.lab.printable import printable
from wblab.lessons.check import parts
from wblab.lessons.notebook.lessoncells import as_html
from wblab.lessons.notebook.shown import Shown, said
from wblab.lessons.sections import SectionLook, View
from wblab.report.listing import Listing
from wblab.report.quantities import column

# What a student looks at over the runs of all specs and seeds: a load's longest pauses, and what a comparison says.

Runs = Mapping[str, Sequence[Run]]  # by the file of their spec


def _seeds(runs: Runs, look: SectionLook) -> Shown:
    """Return a row for each spec and a column for each seed: so the runs of one seed stand below each other."""
    seeds = sorted({run.spec.seed for run in chain(*runs.values())})
    found = {file: {run.spec.seed: _longest_s(run, look.load) for run in each} for file, each in runs.items()}
    texts = iter(column([value for each in found.values() for value in each.values()], "s"))
    cells = {file: {seed: next(texts) for seed in each} for file, each in found.items()}
    rows = [(file, *(each.get(seed, "-") for seed in seeds)) for file, each in cells.items()]
    heads = ("spec", *(f"seed {seed}" for seed in seeds))
    table = Listing(rows, heads, frozenset(range(1, len(heads))))
    title = f"Longest pause of {look.load} in each run"
    return Shown(as_html(table, title), "\n".join([printable(title), *table.lines()]))


def _longest_s(run: Run, load: str) -> float:
    for item in run.loads:
        if item.name == load:
            return load_pauses(item, run.zero_ns).longest_pause_s
    raise InputError(f"no load {load!r}{nearest(load, [item.name for item in run.loads])}")


def _compared(runs: Runs, look: SectionLook) -> Shown:
    from wblab.analysis.runs.comparison import compare
    from wblab.analysis.runs.observations import found_observations
    from wblab.report.comparisonreport import report
    from wblab.report.page import fragment
    from wblab.report.report import within
    from wblab.report.text import lines

    paths = [str(run.path) for run in chain(*runs.values())]
    try:
        data = found_observations(paths, Path(), [look.by])
    except InputError:
        return said(f"No two of your runs differ in {look.by} yet. Change it, and press Check.")
    comparison = compare(data).of_these(*([name] if name else [] for name in (look.load, look.metric)))
    found = report(comparison, every=True)
    return Shown(fragment(within(found, "terminal"), 4), "\n".join(lines(found, None)))


SERIES: Mapping[View, Callable[[Runs, SectionLook], Shown]] = {"seeds": _seeds, "compare": _compared}


# The keys of a spec that are set by a number: its range, and the values between the number and the file.

_MIB = 1 << 20
_KIB_IN_MIB = 1024


@dataclass(frozen=True)
class Scale:
    """The range of a number. start: what it is for a key that the file does not have; unit: of the number."""

    least: float
    most: float
    step: float
    start: float
    unit: str
    read: Callable[[Any], float]
    write: Callable[[float], Any]

    def position(self, value: object) -> float | None:
        """Return the number of a value of a file; None for one that is not in the range."""
        try:
            at = self.read(value)
        except (InputError, ValueError, TypeError):
            return None
        return at if self.least <= at <= self.most else None


def _whole(value: object) -> float:
    return int(str(value).removesuffix("%").strip())


def _mib(value: object) -> float:
    return parse_bytes(str(value)) / _MIB


def _in_mib(number: float) -> str:
    return f"{number:.0f}MiB" if number == int(number) else f"{round(number * _KIB_IN_MIB)}KiB"


def _count(least: int, most: int, step: int, start: int, unit: str) -> Scale:
    return Scale(least, most, step, start, unit, _whole, round)


SCALES: Mapping[str, Scale] = {
    "sysctl.vm.dirty_bytes": Scale(0.25, 64, 0.25, 16, "MiB", _mib, _in_mib),
    "sysctl.vm.dirty_background_bytes": Scale(0.25, 64, 0.25, 8, "MiB", _mib, _in_mib),
    "sysctl.vm.dirty_ratio": _count(1, 100, 1, 20, "%"),
    "sysctl.vm.dirty_background_ratio": _count(1, 100, 1, 10, "%"),
    "sysctl.vm.dirty_expire_centisecs": _count(0, 6000, 50, 3000, "hundredths of a second"),
    "sysctl.vm.dirty_writeback_centisecs": _count(0, 3000, 50, 500, "hundredths of a second"),
    "disk.queue.nr_requests": _count(4, 256, 1, 64, "requests"),
    "disk.queue.wbt_lat_usec": _count(0, 100_000, 1000, 75_000, "µs"),
}


_WIDE = {"width": "auto", "max_width": "36em"}
_LABEL = {"description_width": "initial"}

Write = Callable[[Any], None]  # the value of a key, None to leave it out


class KeyWidget:
    """The widget of one key of a spec. write: called with what the student sets."""

    def __init__(self, key: str, value: object, write: Write) -> None:
        self.box = ipywidgets.VBox(layout=_WIDE)
        self._key, self._write = key, write
        self._value: object = None
        self._fill(value)

    def show(self, value: object) -> None:
        """Show what the file says, without writing it."""
        if value != self._value:
            self._fill(value)

    def _fill(self, value: object) -> None:
        self._value = value
        scale = SCALES.get(self._key)
        if scale is None or (value is not None and scale.position(value) is None):
            self.box.children = (self._text(value),)
        else:
            self.box.children = self._number(scale, value)

    def _set(self, value: object) -> None:
        self._value = value
        self._write(value)

    def _text(self, value: object) -> Any:
        text = ipywidgets.Text(
            value="" if value is None else str(value), description=self._key, placeholder="not set",
            continuous_update=False, style=_LABEL, layout=_WIDE,
        )  # fmt: skip
        text.observe(lambda change: self._set(typed(change["new"])), "value")
        return text

    def _number(self, scale: Scale, value: object) -> tuple[Any, ...]:
        """Return a box to set the key, and its number. A slider of ipywidgets has no name for screen readers."""
        name = f"{self._key.partition('.')[2]} in {scale.unit}"
        at = scale.start if value is None else scale.position(value)
        chosen = ipywidgets.Checkbox(value=value is not None, description=f"set {name}", indent=False, layout=_WIDE)
        number = ipywidgets.BoundedFloatText(
            value=at, min=scale.least, max=scale.most, step=scale.step, disabled=value is None,
            description=name, style=_LABEL, layout=_WIDE,
        )  # fmt: skip

        def changed(_: object) -> None:
            number.disabled = not chosen.value
            self._set(scale.write(number.value) if chosen.value else None)

        chosen.observe(changed, "value")
        number.observe(changed, "value")
        return chosen, number


def typed(text: str) -> str | int | None:
    """Return the value that a text field stands for: None if it is empty, a whole number, or text.

    Hints show values as the file has them: text in quotes.
    """
    plain = text.strip().removeprefix('"').removesuffix('"').strip()
    if not plain:
        return None
    return int(plain) if plain.isascii() and plain.isdigit() else plain


def value_of(table: Mapping[str, Any], key: str) -> object:
    """Return the value of a key in a spec's table; None if it has none."""
    within: Any = table
    for part in parts(key):
        within = within.get(part) if isinstance(within, Mapping) else None
    return within
