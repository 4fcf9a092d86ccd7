"""Latency heat maps as panes and as a picture: what they say besides colours, and that colours can be told apart."""

from itertools import pairwise

import numpy as np
import pytest

from wblab.analysis.runs.heat import cycles_of, heat_map
from wblab.analysis.runs.pauses import Window, whole
from wblab.core.errors import InputError
from wblab.plot.heatpanes import heat_picture
from wblab.plot.style import HEAT, HEAT_DARK
from wblab.plot.timeline import chosen, timeline
from wblab.report.palette import DARK, WHITE, contrast

S = 10**9


def test_a_run_has_a_map_of_all_innocent_loads_and_one_of_each_drawn_only_if_named(run):
    drawn = timeline(run)
    assert [pane.name for pane in drawn.more] == ["heat", "heat w1", "heat mw1"]
    assert not [pane for pane in chosen(drawn, "all").panes if pane.name.startswith("heat")]
    assert [pane.name for pane in chosen(drawn, "all,heat mw1").panes][-1] == "heat mw1"
    (pane,) = chosen(drawn, "heat").panes
    assert pane.what == "cycles by their pause; lines: 99 % below 1.34 s, longest 1.40 s"
    assert list(pane.axis.ticks.values()) == ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
    with pytest.raises(InputError, match="no pane"):
        chosen(drawn, "heat l1")


def test_beside_each_map_stand_the_numbers_of_cycles_by_length(run):
    found = heat_map([cycles_of(run)], whole(run))
    figure = heat_picture({"as it comes": found, "again": found})
    maps, rows = figure.axes[::2], figure.axes[1::2]
    assert len(maps) == len(rows) == 2
    said = "upwards: how long cycles paused; 99 % below 1.34 s, longest 1.40 s"
    assert {"as it comes", said} <= {text.get_text() for text in maps[0].texts}
    assert [text.get_text() for text in rows[0].texts] == ["4", "1"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["1 cycle", "2 to 4"]


def test_without_cycles_there_is_a_picture_too():
    heat_picture({"nothing": heat_map([], Window(0, S))}).canvas.draw()


@pytest.mark.parametrize(("colours", "paper"), [(HEAT, WHITE), (HEAT_DARK, DARK)])
def test_one_cycle_can_be_seen_and_each_step_from_the_one_before(colours, paper):
    contrasts = [contrast(colour, paper) for colour in colours.values()]
    assert contrasts[0] > 3
    assert all(after / before > 1.3 for before, after in pairwise(contrasts))
    assert list(HEAT) == list(HEAT_DARK)
    assert np.all(np.diff(list(colours)) > 0)
