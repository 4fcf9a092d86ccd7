"""What the notebooks need of Jupyter, and what they do without it."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.core.errors import InputError
from wblab.data.run import Run, find_run, read_run
from wblab.lab.formats import DESIGN, TABLE
from wblab.lab.places import RESULTS

if TYPE_CHECKING:
    from wblab.data.observations import Observations

RUN_VARIABLE = "WBLAB_RUN"
RUNS_VARIABLE = "WBLAB_RUNS"  # with a colon between them


def chosen_run(name: str = "") -> Run:
    """Return the run of this name, as the commands take it; without one, that of $WBLAB_RUN, or the latest.

    Raises InputError.
    """
    return read_run(find_run(name or os.environ.get(RUN_VARIABLE) or "latest", RESULTS))


def chosen_observations(*names: str) -> "Observations":
    """Return what there is to compare in the runs, or the matrix, of these names.

    Without any, in those of $WBLAB_RUNS, or the latest matrix, or else all runs of the kind of the latest.
    Raises InputError.
    """
    from wblab.data.observations import found_observations  # with pandas, which takes longer than drawing one run

    names = names or tuple(filter(None, os.environ.get(RUNS_VARIABLE, "").split(os.pathsep)))
    if not names:
        tables = sorted(RESULTS.glob(f"*/{TABLE}"), key=lambda path: path.stat().st_mtime_ns)
        kind = find_run("latest", RESULTS).name.partition("_")[2].partition("_")[2] if not tables else ""
        names = (str(tables[-1].parent),) if tables else tuple(str(path) for path in RESULTS.glob(f"[0-9]*_{kind}"))
    return found_observations(names, RESULTS)


def chosen_runs(matrix: str) -> list[Run]:
    """Return the runs of $WBLAB_RUNS, each a run or a matrix, or else those of the latest matrix of this name.

    Of a matrix, those that count. Raises InputError.
    """
    from wblab.data.observations import matrix_runs

    names = [name for name in os.environ.get(RUNS_VARIABLE, "").split(os.pathsep) if name]
    if not names:
        matrices = sorted(RESULTS.glob(f"[0-9]*_{matrix}/{TABLE}"), key=lambda path: path.stat().st_mtime_ns)
        if not matrices:
            raise InputError(f"no matrix {matrix!r} was run: wblab matrix {matrix}")
        names = [str(matrices[-1].parent)]
    paths = [path for name in names for path in matrix_runs(Path(name)) or [find_run(name, RESULTS)]]
    return [run for run in map(read_run, paths) if not run.failure]


def chosen_cells(matrix: str) -> dict[str, Run]:
    """Return the runs of `chosen_runs` by what their cells are called, without numbers and seeds. Raises InputError."""
    return {re.sub(r"^\d+-|-s\d+$", "", run.spec.name): run for run in chosen_runs(matrix)}


def chosen_exploration(name: str = "") -> Path:
    """Return the directory of an exploration: of this name, of $WBLAB_RUNS, or the latest. Raises InputError."""
    name = name or os.environ.get(RUNS_VARIABLE, "")
    if name:
        found = [path for path in (Path(name), RESULTS / name) if (path / DESIGN).is_file()]
    else:
        found = sorted((path.parent for path in RESULTS.glob(f"*/{DESIGN}")), key=lambda path: path.name)
    if not found:
        raise InputError(f"no exploration {name!r}: 'wblab explore' makes one" if name else "no exploration was run")
    return found[-1]


def sliders(draw: Callable[..., Any], controls: dict[str, tuple[Any, Any, Any]], **start: Any) -> Any:
    """Show what `draw` makes of its arguments, with a slider for each: `controls` has least, most and step.

    `draw` returns axes or a figure. Without ipywidgets, or a program that shows its widgets, what it makes of the
    `start` values is shown.
    """
    from IPython.display import display as untyped

    display: Callable[..., None] = untyped

    def show(**values: Any) -> None:
        drawn = draw(**values)
        display(drawn.figure if hasattr(drawn, "figure") and drawn.figure is not None else drawn)

    try:
        import ipywidgets
    except ImportError:
        return show(**start)
    kinds = {int: ipywidgets.IntSlider, float: ipywidgets.FloatSlider}
    widgets = {
        name: kinds[type(start[name])](
            value=start[name], min=least, max=most, step=step, description=name, continuous_update=False,
            style={"description_width": "10em"}, layout={"width": "36em"},
        )
        for name, (least, most, step) in controls.items()
    }  # fmt: skip
    output = ipywidgets.interactive_output(show, widgets)
    display(ipywidgets.VBox([*widgets.values(), output]))
    return None
