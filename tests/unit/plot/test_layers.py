"""Pictures of writes on their way down to the disk."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from wblab.analysis.runs.blocks import Submitted
from wblab.plot.blocks import plot_barrier, plot_size_classes, plot_spans

KIB, MIB, S = 1 << 10, 1 << 20, 10**9


@pytest.fixture
def ax():
    return Figure().add_subplot()


def submitted(places, size):
    names = np.full(len(places), "a", object)
    places = np.array(places, np.int64)
    return Submitted(places, names, names, places, np.full(len(places), size), np.full(len(places), True))


def test_a_field_has_its_number_and_is_as_dark_as_its_part_of_the_bytes(ax):
    index = pd.MultiIndex.from_tuples([("line", "bio"), ("a", "issued")])
    plot_size_classes(pd.DataFrame([[16, 1], [0, 2]], index, [4, 64]), ax=ax)
    assert sorted(text.get_text() for text in ax.texts) == ["1", "16", "2"]
    assert ax.images[0].get_array().tolist() == [[0.5, 0.5], [0, 1]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["line: bio", "a: issued"]
    assert len(ax.lines) == 1  # between the disks


def test_each_write_of_a_stretch_has_a_box(ax):
    rows = {
        ("line", "bio"): submitted([0, 4 * KIB, 8 * KIB, 64 * KIB], 4 * KIB),
        ("", "issued"): submitted([0], 12 * KIB),
    }
    plot_spans(rows, 4 * KIB, 16 * KIB, ax=ax)
    assert [len(boxes.get_paths()) for boxes in ax.collections] == [2, 1]
    assert [text.get_text() for text in ax.texts] == ["2", "1"]
    assert ax.get_xlim() == (0, 16)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["line: bio", "issued"]


def test_who_waited_at_the_barrier_is_told_from_who_did_not(ax):
    delayed = pd.DataFrame({"ts_ns": [S, 2 * S, 3 * S], "place": [0, 65 * MIB, MIB], "delay_ms": [20.0, 0.01, 5.0]})
    plot_barrier(delayed, submitted([S, 2 * S], 64 * KIB), 64 * MIB, 0, ax=ax)
    free, waited = ax.collections
    assert free.get_offsets().tolist() == [[2, 65]]
    assert waited.get_offsets().tolist() == [[1, 0], [3, 1]]
    assert waited.get_sizes()[0] > waited.get_sizes()[1] > free.get_sizes()[0]
