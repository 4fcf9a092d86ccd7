"""Figures show themselves."""

from wblab.plot.picture import new_figure
from wblab.plot.style import new_axes

_PNG = b"\x89PNG\r\n\x1a\n"


def test_a_figure_shows_itself_in_a_notebook_without_pyplot():
    assert new_figure(2)._repr_png_().startswith(_PNG)
    assert new_axes().figure._repr_png_().startswith(_PNG)
