"""Pictures of calls by layer."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from wblab.analysis.layers.bylayer import LayeredCall
from wblab.plot.layercalls import plot_call, plot_states


def call(name, start_ns, *pieces):
    spans, at = [], start_ns
    for path, length_ns in pieces:
        spans.append((path, at, at + length_ns))
        at += length_ns
    return LayeredCall("s1", 0, name, start_ns, at - start_ns, tuple(spans), {}, {}, {}, {})


@pytest.fixture
def calls():
    return [
        call("write", 1000, (("cpu",), 4000)),
        call("fsync", 6000, (("commit", "logging", "device"), 9000), (("commit", "journal"), 1000)),
    ]


@pytest.fixture
def axes():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def boxes(ax):
    return sorted((box.get_y() + box.get_height() / 2, box.get_x(), box.get_width()) for box in ax.patches)


def test_one_call_is_a_row_for_each_link_and_each_box_as_long_as_it_took(calls, axes):
    plot_call(calls, ax=axes)
    expected = [(0, 0, 4), (0, 5, 10), (1, 0, 4), (1, 5, 10), (2, 5, 9), (2, 14, 1), (3, 5, 9)]
    np.testing.assert_allclose(boxes(axes), expected)
    assert {"fsync", "commit", "logging", "device"} <= {text.get_text() for text in axes.texts}


def test_bars_are_as_high_as_calls_took(calls, axes):
    plot_states(calls, ax=axes)
    heights = {}
    for box in axes.patches:
        place = round(box.get_x() + box.get_width() / 2)
        heights[place] = heights.get(place, 0) + box.get_height()
    assert heights == pytest.approx({0: 4, 1: 10})
