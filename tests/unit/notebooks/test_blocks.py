"""Pictures of writes on their way down to the disk."""

from types import SimpleNamespace

import blocks
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from wblab.analysis.runs.blocks import Submitted

KIB, MIB, S = 1 << 10, 1 << 20, 10**9
RUN = SimpleNamespace(trace=None, zero_ns=0)


@pytest.fixture
def ax():
    return Figure().add_subplot()


def submitted(places, size, task="a"):
    names = np.full(len(places), "a", object)
    places = np.array(places, np.int64)
    tasks = np.full(len(places), task, object)
    return Submitted(places, tasks, names, places, np.full(len(places), size), np.full(len(places), True))


def test_a_field_has_its_number_and_is_as_dark_as_its_part_of_the_bytes(ax, monkeypatch):
    index = pd.MultiIndex.from_tuples([("line", "bio"), ("a", "issued")])
    monkeypatch.setattr(blocks, "size_classes", lambda run: pd.DataFrame([[16, 1], [0, 2]], index, [4, 64]))
    blocks.plot_sizes(RUN, ax=ax)
    assert sorted(text.get_text() for text in ax.texts) == ["1", "16", "2"]
    assert ax.images[0].get_array().tolist() == [[0.5, 0.5], [0, 1]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["line: bio", "a: issued"]
    assert len(ax.lines) == 1  # between the disks


def test_each_write_of_the_busiest_stretch_has_a_box(ax, monkeypatch):
    start = 4 * MIB
    rows = {
        ("line", "bio"): submitted([start, start + 4 * KIB, start + 8 * KIB, start + 900 * KIB], 4 * KIB),
        ("", "issued"): submitted([0, start], 12 * KIB).where(slice(None)),
    }
    rows["", "issued"].size[1] *= 2
    monkeypatch.setattr(blocks, "steps", lambda trace: rows)
    blocks.plot_spans(RUN, ("line", "bio"), ("", "issued"), ax=ax)
    assert [len(boxes.get_paths()) for boxes in ax.collections] == [3, 1]
    assert [text.get_text() for text in ax.texts] == ["3", "1"]
    assert ax.get_xlim() == (0, 512)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["line: bio", "issued"]


def test_who_waited_at_the_barrier_is_told_from_who_did_not(ax, monkeypatch):
    delayed = pd.DataFrame({"at_s": [1.0, 2.0, 3.0], "place": [0, 65 * MIB, MIB], "delay_ms": [20.0, 0.01, 5.0]})
    monkeypatch.setattr(blocks, "delayed", lambda run, mirror: delayed)
    monkeypatch.setattr(blocks, "submitted", lambda trace, event: submitted([S, 2 * S], 64 * KIB, "md0_resync"))
    blocks.plot_barrier(RUN, "mirror", "a", ax=ax)
    free, waited = ax.collections
    assert free.get_offsets().tolist() == [[2, 65]]
    assert waited.get_offsets().tolist() == [[1, 0], [3, 1]]
    assert waited.get_sizes()[0] > waited.get_sizes()[1] > free.get_sizes()[0]
    assert ax.get_lines()[0].get_xdata().tolist() == [1, 2]
