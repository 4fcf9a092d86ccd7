"""The figures of a report: the longest pauses of all seeds, and timelines of single runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import around
from wblab.analysis.why.explanations import explain_all
from wblab.core.loads import MultiWrite, Write
from wblab.plot.picture import picture
from wblab.plot.style import DPI, GRID, WIDTH_IN, load_colours
from wblab.plot.timeline import timeline
from wblab.study.sources.sample import Sample

_ROW_IN = 0.42
_COLOURS = load_colours({"w1": Write, "mw1": MultiWrite})
_OFF = {"w1": -0.12, "mw1": 0.12}
_SHOWN = {
    "ext2": "The base experiment as the thesis ran it, on ext2.",
    "ext4": "The base experiment on ext4 with its journal.",
    "sync": "The base experiment, mounted sync.",
    "device": "The base experiment on the device disk.",
    "device-bfq-idle": "The base experiment on the device disk, with BFQ and the offenders in the idle class.",
}
_CLOSE = ("ext2", "device")


def plot_longest_pauses(samples: dict[str, list[Sample]], *, ax: Axes) -> Axes:
    """Draw the longest pause of w1 and mw1 in each run: one row per case, one point per run, a bar at the median."""
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
    ax.set_xlabel("longest pause of a run (s); one point per seed, bar at the median")
    ax.grid(color=GRID, linewidth=0.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


@dataclass(frozen=True)
class Drawn:
    """A figure of the report. name: stem of its file; what: its caption; title: the title in the file."""

    name: str
    what: str
    title: str
    figure: Figure


def longest_pauses(samples: dict[str, list[Sample]]) -> Drawn | None:
    """Draw the longest pauses of w1 and mw1 in the cases that have both loads; None if no case has them."""
    samples = {case: runs for case, runs in samples.items() if runs and _COLOURS.keys() <= runs[0].run.spec.load.keys()}
    if not samples:
        return None
    figure = Figure(figsize=(WIDTH_IN, 1.2 + _ROW_IN * len(samples)), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    plot_longest_pauses(samples, ax=figure.add_subplot())
    what = "Longest pause of each run. w1 appends to an open file; mw1 opens a new file each time."
    return Drawn("longest-pauses", what, "Longest pauses", figure)


def timelines(case: str, sample: Sample) -> Iterator[Drawn]:
    """Yield the figures of a run; none if the report shows no runs of its case."""
    if case not in _SHOWN:
        return
    run, cache = sample.run, page_cache(sample.run)
    causes = explain_all(run, cache)
    whole = timeline(run, cache, explained=causes)
    yield Drawn(case, f"{_SHOWN[case]} Seed {run.spec.seed}.", run.name, picture(whole))
    if case in _CLOSE:
        near = f"The same run, close up ({case}): the longest pause of its innocent loads."
        close = timeline(run, cache, window=around(run, "longest"), explained=causes)
        yield Drawn(f"{case}-close-up", near, run.name, picture(close))
