import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wblab.core.errors import InputError, WblabError
from wblab.data.run import read_run
from wblab.plot.figure import FORMATS, save, start_labels
from wblab.plot.loads import plot_control, plot_load
from wblab.plot.style import PAUSE
from wblab.plot.timeline import timeline

MS = 1_000_000
MW1 = [0, 100 * MS, 200 * MS, 1700 * MS, 1800 * MS]
L1 = [0, 5000 * MS + 1, 5100 * MS, 8000 * MS]


@pytest.fixture
def run(tmp_path):
    spec = importlib.util.spec_from_file_location("runs", Path(__file__).parents[1] / "data" / "conftest.py")
    runs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runs)
    boundaries = {"c1": [0, 50 * MS, 100 * MS], "w1": [0, 50 * MS], "mw1": MW1, "l1": L1}
    return read_run(runs.write_run(tmp_path / "run", boundaries))


def panes(figure):
    return {ax.get_title(loc="left"): ax for ax in figure.axes}


def test_a_pane_for_each_load_in_the_spec_s_order(run):
    assert list(panes(timeline(run))) == ["c1", "w1", "mw1", "l1"]


def test_panes_share_the_time_axis_and_loads_their_scale(run):
    shown = panes(timeline(run))
    assert {ax.get_xlim() for ax in shown.values()} == {(0, 8)}
    assert len({ax.get_ylim() for name, ax in shown.items() if name != "c1"}) == 1


def test_control_pane_spans_its_idle_time(run):
    assert panes(timeline(run))["c1"].get_ylim() == pytest.approx((0.95 * 50, 1.25 * 50))


def test_dashed_line_on_every_pane_where_the_offender_starts(run):
    for ax in panes(timeline(run)).values():
        (line,) = [line for line in ax.lines if line.get_linestyle() == "--"]
        assert line.get_xdata() == pytest.approx([5, 5])


def test_pauses_stand_out_and_the_longest_is_named(run):
    ax = panes(timeline(run))["mw1"]
    normal, paused = ax.patches
    assert paused.get_facecolor() != normal.get_facecolor()
    assert [label.get_text() for label in ax.texts if label.get_color() == PAUSE] == ["1.4 s"]
    values, edges, _ = paused.get_data()
    assert max(values) == 1.5
    assert edges[list(values).index(1.5)] == pytest.approx(0.2)


def test_load_without_pauses_has_none_drawn(run):
    assert len(panes(timeline(run))["w1"].patches) == 1


def test_a_pane_drawn_alone_makes_its_own_axes(run):
    assert plot_load(run.load("mw1")).patches
    assert plot_control(run.load("c1")).lines


def test_control_stall_beyond_the_pane_is_named(run):
    c1 = run.load("c1")
    assert not plot_control(c1).texts
    stalled = replace(c1, boundaries_ns=np.array([0, 50, 870]) * MS)
    assert [label.get_text() for label in plot_control(stalled).texts] == ["stalled for 0.77 s"]


def test_the_picture_of_a_failed_run_says_why(run):
    failed = replace(run, record=run.record | {"outcome": "failed", "reason": "disk full"})
    assert "disk full" in timeline(failed).get_suptitle()
    assert "succeed" not in timeline(run).get_suptitle()


def test_offenders_that_start_close_together_share_a_label():
    assert start_labels({"l1": 5, "l2": 43}, 80) == [(5, "l1 starts"), (43, "l2 starts")]
    assert start_labels({"l2": 43, "l1": 5}, 800) == [(43, "l1, l2 start")]
    assert start_labels({}, 80) == []


@pytest.mark.parametrize("suffix", FORMATS)
def test_saved_twice_it_is_the_same_file_and_names_the_run(run, tmp_path, suffix):
    first, second = (tmp_path / f"{number}{suffix}" for number in (1, 2))
    for path in (first, second):
        save(timeline(run), run, path)
    content = first.read_bytes()
    assert content == second.read_bytes()
    assert run.path.name.encode() in content


def test_unknown_format(run, tmp_path):
    with pytest.raises(InputError, match=r"\.gif.*\.png"):
        save(timeline(run), run, tmp_path / "a.gif")


def test_place_that_cannot_be_written(run, tmp_path):
    with pytest.raises(WblabError, match="cannot write"):
        save(timeline(run), run, tmp_path / "nowhere" / "a.png")
