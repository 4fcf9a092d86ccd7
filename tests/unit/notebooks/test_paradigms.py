"""The table of main loops, and its picture."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from paradigms import loop_frame, plot_stops, worst

from wblab.analysis.runs.run import LoadCycles, Run
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

MS = 10**6


def run(paradigm, seed, stop_ms, dropped=0):
    """Return a run of the preset `loop` with ten cycles, in which the log stalled once for so long."""
    spec = read_spec(SPECS.find("loop"), (f"load.g1.paradigm={paradigm}", f"seed={seed}"))
    loads = []
    for name in ("c1", "g1", "s1"):
        lengths = np.full(10, spec.load[name].idle_ns(1))
        lengths[4] += stop_ms * MS if name == "g1" else 0
        times = np.concatenate([[0], np.cumsum(lengths)])
        loads.append(LoadCycles(name, spec.load[name], 9, "stopped", "", times, dropped if name == "g1" else 0))
    return Run(Path("/runs/loop"), {}, spec, tuple(loads))


@pytest.fixture
def frame():
    return loop_frame([run("sync", 1, 300), run("sync", 2, 90), run("pipe", 1, 0, dropped=5)])


def test_a_row_for_each_main_loop_of_each_run(frame):
    assert frame["work"].tolist() == ["log", "objects"] * 3
    log = frame[frame["work"] == "log"]
    assert log["longest_s"].tolist() == [0.3, 0.09, 0.0]
    assert log["stopped"].tolist() == pytest.approx([300 / 330, 90 / 120, 0])
    assert log["dropped"].tolist() == [0, 0, 0.5]
    assert set(frame["write_bps"]) == {8 << 20}


def test_the_worst_seed_counts_and_the_best_paradigm_comes_first(frame):
    table = worst(frame[frame["work"] == "log"])
    assert table.index.get_level_values("paradigm").tolist() == ["pipe", "sync"]
    assert table["ext4", 8 << 20].tolist() == [0.0, 0.3]


def test_a_picture_has_a_row_per_paradigm_and_a_colour_per_disk(frame):
    ax = plot_stops(frame[frame["work"] == "log"], ax=Figure().add_subplot())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["pipe", "sync"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["ext4, 8 MiB/s"]
    (line,) = ax.get_lines()
    assert sorted(line.get_xdata()) == [1e-5, 0.09, 0.3]
