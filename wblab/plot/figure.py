"""New figures, which need no display and show themselves in a notebook, whether or not it uses pyplot."""

from io import BytesIO
from typing import Any

from matplotlib import figure
from matplotlib.backends.backend_agg import FigureCanvasAgg

from wblab.plot.style import DPI, WIDTH_IN


class Figure(figure.Figure):
    """A figure of Matplotlib that IPython can show without `%matplotlib inline`."""

    def _repr_png_(self) -> bytes:
        stream = BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()


def new_figure(height_in: float, **look: Any) -> Figure:
    """Return an empty figure as wide as all pictures. look: further arguments of Matplotlib's Figure."""
    made = Figure(figsize=(WIDTH_IN, height_in), dpi=DPI, **look)
    FigureCanvasAgg(made)
    return made
