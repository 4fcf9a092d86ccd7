"""Sliders in a notebook, with a static fallback."""

from collections.abc import Callable
from typing import Any


def sliders(draw: Callable[..., Any], controls: dict[str, tuple[Any, Any, Any]], **start: Any) -> Any:
    """Show the result of `draw` with a slider for each argument. controls: minimum, maximum and step.

    `draw` returns axes or a figure. Without ipywidgets, or a program that shows its widgets, the result for the `start`
    values is shown.
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
