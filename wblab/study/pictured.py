"""The pictures of a study: of each cell the lanes of one run, and the latency heat map of all its seeds.

A cell's run is that whose longest freeze is the median of its seeds. Where there are more cells than fit, those are
drawn that lie evenly between the shortest freeze and the longest.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from wblab.analysis.runs.heat import HeatMap, heat_of_runs
from wblab.analysis.runs.lanes import Lanes, lanes_of
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS
from wblab.analysis.runs.run import Run, read_run
from wblab.core.errors import InputError
from wblab.plot.artists import PictureFigure
from wblab.plot.heatpanes import HEAT_PANE, heat_picture
from wblab.plot.lanespicture import lanes_picture
from wblab.plot.picture import themed
from wblab.report.report import Block, Picture, Report, Section
from wblab.study.cells import Cell
from wblab.study.made import Made, made_of
from wblab.study.store import Store

_MOST = 8  # cells


@dataclass(frozen=True)
class DrawnCell:
    """A cell of which runs were kept. made: these, from the shortest longest freeze to the longest."""

    cell: Cell
    made: tuple[Made, ...]

    @property
    def median(self) -> Made:
        """The run that stands for it; of an even number, the shorter of both in the middle."""
        return self.made[(len(self.made) - 1) // 2]

    @property
    def label(self) -> str:
        """Its levels; of one axis, without the axis."""
        levels = [str(level) for level in self.cell.levels.values()]
        return levels[0] if len(levels) == 1 else str(self.cell)


def drawn_cells(store: Store, always: Collection[str] = ()) -> list[DrawnCell]:
    """Return the cells to draw, in the order of the plan; nothing if the study kept no runs.

    always: the names of cells that are drawn in any case; the first is so too. Raises InputError if it is damaged.
    """
    of: dict[str, list[Made]] = {cell.name: [] for cell in store.plan.cells}
    for made in made_of(store):
        if made.directory is not None:
            of[made.cell.name].append(made)
    found = [
        DrawnCell(cell, tuple(sorted(of[cell.name], key=lambda made: (made.row.longest_s or 0.0, made.seed))))
        for cell in store.plan.cells
        if of[cell.name]
    ]
    if len(found) <= _MOST:
        return found
    wanted = [each for each in found if each.cell.name in {found[0].cell.name, *always}][:_MOST]
    others = sorted((each for each in found if each not in wanted), key=lambda each: each.median.row.longest_s or 0.0)
    count = _MOST - len(wanted)
    even = [others[round(at * (len(others) - 1) / max(1, count - 1))] for at in range(count)]
    return [each for each in found if each in wanted or each in even]


def lanes_of_cells(cells: Sequence[DrawnCell]) -> list[Lanes]:
    """Return the lanes of each cell's run. Raises InputError for a damaged one."""
    return [lanes_of(_run(each.median), f"{each.label} (seed {each.median.seed})", DEFAULT_BOUND_NS) for each in cells]


def heat_of_cells(cells: Sequence[DrawnCell], load: str = "") -> dict[str, HeatMap]:
    """Return the heat map of each cell, of all its seeds, by title; see `heat_of_runs`."""
    return heat_of_runs({each.label: map(_run, each.made) for each in cells}, load)


def _run(made: Made) -> Run:
    assert made.directory is not None
    return read_run(made.directory)


def with_pictures(report: Report, store: Store, always: Collection[str] = ()) -> Report:
    """Return the report of a study with its pictures first, which only a page has; unchanged if no runs were kept.

    always: see `drawn_cells`. Raises InputError for a damaged run.
    """
    cells = drawn_cells(store, always)
    if not cells:
        return report
    return replace(report, blocks=(*_pictures(cells, len(store.plan.cells)), *report.blocks))


def _pictures(cells: Sequence[DrawnCell], of: int) -> Sequence[Block]:
    few = f"{len(cells)} of {of} cells, evenly from the shortest freeze to the longest. " if len(cells) < of else ""
    lanes = (
        "Of each cell one run: the one whose longest freeze is the median of its seeds. A line is a load at work, a "
        "hatched bar is one that writes fast, a tall bar is one that is frozen."
    )
    heat = (
        "Each cell of a map counts cycles of innocent loads, of all seeds: to the right by when they began, upwards by "
        "how long they paused, in steps of a factor. The numbers beside it are of all times together."
    )
    maps = Section(
        "How often, and for how long: all seeds",
        (heat, Picture("Latency heat maps of the cells", svg=themed(heat_picture(heat_of_cells(cells))))),
        "page",
    )
    drawn = Picture("When each load worked and when it was frozen", svg=themed(lanes_picture(lanes_of_cells(cells))))
    return (Section("When programs were frozen", (few + lanes, drawn), "page"), maps)


def study_picture(store: Store, panes: str) -> PictureFigure:
    """Return the figure of a study: its lanes; or for "heat", or "heat LOAD", its heat maps. Raises InputError."""
    name, _, load = panes.partition(" ")
    if panes and name != HEAT_PANE:
        raise InputError(
            f"--panes {panes}: of a study there are lanes, heat, and heat LOAD: name one of its runs for other panes"
        )
    cells = drawn_cells(store)
    if not cells:
        raise InputError(f"{store.path} kept no runs to draw: make it with --keep traces")
    return heat_picture(heat_of_cells(cells, load.strip())) if panes else lanes_picture(lanes_of_cells(cells))
