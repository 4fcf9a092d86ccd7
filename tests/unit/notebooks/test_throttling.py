from types import SimpleNamespace

import numpy as np
import pytest
from support.pictured import S, dirty_state, throttling
from throttling import (
    limit_steps,
    limits_at,
    plot_control_line,
    plot_limit_over_threshold,
    plot_observed_ratios,
    plot_settings,
    sliders,
)

from wblab.analysis.runs.pagecache import DirtyState
from wblab.analysis.runs.throttling import DirtyLimits


def run(zero_ns=0, **trace):
    """Return what the notebook reads of a run."""
    file = SimpleNamespace(info=SimpleNamespace(page_bytes=4096))
    return SimpleNamespace(zero_ns=zero_ns, trace=SimpleNamespace(trace=file, **trace))


def test_the_curve_goes_from_two_over_one_at_the_setpoint_to_zero():
    ax = plot_control_line(DirtyLimits(2560, 5120, 5120))
    curve = ax.lines[0]
    assert curve.get_ydata()[0] == pytest.approx(2, abs=0.01)
    assert curve.get_ydata()[-1] == 0
    setpoint_mib = (3840 + 5120) / 2 * 4096 / 2**20
    assert np.interp(setpoint_mib, curve.get_xdata(), curve.get_ydata()) == pytest.approx(1, abs=0.01)
    assert any(text.get_text() == f"setpoint {setpoint_mib:.1f}" for text in ax.texts)


def test_the_limit_counts_for_no_less_than_the_threshold():
    texts = [text.get_text() for text in plot_control_line(DirtyLimits(2560, 5120, 100)).texts]
    assert "limit 20.0" in texts


def test_points_lie_where_the_dirty_pages_are():
    ax = plot_observed_ratios(run(S, throttling=throttling()))
    places, ratios = ax.collections[0].get_offsets().T
    assert places.max() == 1
    assert ratios.min() == 0
    assert ax.collections[0].get_array().min() == -1


def test_limit_as_a_multiple_of_the_threshold():
    ax = plot_limit_over_threshold(run(dirty_state=dirty_state()))
    (limit,) = [line for line in ax.lines if line.get_label() == "dirty limit"]
    assert limit.get_ydata()[0] == pytest.approx(1.35)
    assert limit.get_ydata()[-1] == pytest.approx(1.1)


def test_settings_say_how_long_a_flush_takes():
    title = plot_settings(1024, 20, 10, 1.0).get_title(loc="left")
    assert "at 1 MiB/s" in title
    assert "background threshold takes 102 s" in title


def test_steps_of_the_limit_are_shown_beside_computed_ones():
    pages = {"background": [1000] * 3, "threshold": [2000] * 3, "limit": [3000, 2969, 2900], "dirty": [900] * 3}
    columns = {name: np.array(values) * 4096 for name, values in (pages | {"writeback": [100] * 3}).items()}
    one = run(S, dirty_state=DirtyState(ts_ns=np.array([2, 3, 4]) * S, **columns))
    steps = limit_steps(one)
    assert steps["limit_after"].tolist() == [2969, 2900]
    assert steps["computed"].tolist() == [3000 - 1000 // 32, 2969 - 969 // 32]
    assert steps["at_s"].tolist() == [2.0, 3.0]
    assert limits_at(one, -1) == DirtyLimits(1000, 2000, 2900)


def test_a_slider_begins_at_the_value_given():
    shown = sliders(1024, 20, 10, 1.0)
    assert [slider.value for slider in shown.children[:4]] == [1024, 20, 10, 1.0]
