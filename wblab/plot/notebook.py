"""What the notebooks need of Jupyter, and what they do without it."""

import os
from collections.abc import Callable
from typing import Any

from wblab.core.specfile import RESULTS
from wblab.data.run import Run, find_run, read_run

RUN_VARIABLE = "WBLAB_RUN"


def chosen_run(name: str = "") -> Run:
    """Return the run of this name, as the commands take it; without one, that of $WBLAB_RUN, or the latest.

    Raises InputError.
    """
    return read_run(find_run(name or os.environ.get(RUN_VARIABLE) or "latest", RESULTS))


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
