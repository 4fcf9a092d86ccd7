"""The figures of a report: all seeds' longest pauses beside each other, and single runs as timelines."""

from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from wblab.claims.sample import Sample
from wblab.core.loads import MultiWrite, Write
from wblab.data.pagecache import page_cache
from wblab.data.window import around
from wblab.plot.colours import load_colours
from wblab.plot.picture import picture
from wblab.plot.style import DPI, GRID, WIDTH_IN
from wblab.plot.timeline import timeline
from wblab.why.told import explain_all

_ROW_IN = 0.42
_COLOURS = load_colours({"w1": Write, "mw1": MultiWrite})
_OFF = {"w1": -0.12, "mw1": 0.12}
_SHOWN = {
    "ext2": "The base experiment as the thesis ran it, on ext2.",
    "ext4": "The base experiment on ext4 with its journal.",
    "sync": "Mounted sync.",
    "device": "On the device disk.",
    "device-bfq-idle": "On the device disk, with BFQ and the offenders in the idle class.",
}
_CLOSE = ("ext2", "device")


def plot_longest_pauses(samples: dict[str, list[Sample]], *, ax: Axes) -> Axes:
    """Draw the longest pause of w1 and mw1 in each run: a point each, a row for each case, a bar for the median."""
    for row, runs in enumerate(samples.values()):
        for name, colour in _COLOURS.items():
            values = sorted(sample.longest_s(name) for sample in runs)
            at = [row + _OFF[name]] * len(values)
            ax.plot(values, at, "o", color=colour, alpha=0.6, markersize=6, label=name if row == 0 else None)
            middle = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
            ax.plot([middle], [row + _OFF[name]], "|", color=colour, markersize=16, markeredgewidth=2)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    ax.set_yticks(range(len(samples)), list(samples))
    ax.invert_yaxis()
    ax.set_xlabel("longest pause of a run (s); each point a seed, the bar their median")
    ax.grid(color=GRID, linewidth=0.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


@dataclass(frozen=True)
class Drawn:
    """A figure of the report: the stem of its file's name, what it shows, and of which runs it is."""

    name: str
    what: str
    title: str
    figure: Figure


def longest_pauses(samples: dict[str, list[Sample]]) -> Drawn | None:
    """Draw all runs' longest pauses, of the cases that have the loads that it shows; None where no case has."""
    samples = {case: runs for case, runs in samples.items() if _COLOURS.keys() <= runs[0].run.spec.load.keys()}
    if not samples:
        return None
    figure = Figure(figsize=(WIDTH_IN, 1.2 + _ROW_IN * len(samples)), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    plot_longest_pauses(samples, ax=figure.add_subplot())
    what = "The longest pause of each run of w1, which appends to an open file, and mw1, which opens new ones."
    return Drawn("longest-pauses", what, "Longest pauses", figure)


def timelines(case: str, sample: Sample) -> Iterator[Drawn]:
    """Draw a run one figure after the other, where the report shows runs of its case."""
    if case not in _SHOWN:
        return
    run, cache = sample.run, page_cache(sample.run)
    causes = explain_all(run, cache)
    whole = timeline(run, cache, explained=causes)
    yield Drawn(case, f"{_SHOWN[case]} Seed {run.spec.seed}.", run.name, picture(whole))
    if case in _CLOSE:
        near = f"The same from close by: the longest pause of its innocent loads, on {case}."
        close = timeline(run, cache, window=around(run, "longest"), explained=causes)
        yield Drawn(f"{case}-close-up", near, run.name, picture(close))
