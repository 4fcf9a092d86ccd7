import numpy as np
import pytest
from support.pictured import MIB, S, dirty_state, throttling

from wblab.data.rates import Rates
from wblab.plot.pagecache import plot_dirty_state, plot_event_rates, plot_pauses_asked, plot_rate_limits
from wblab.plot.style import SERIES, legend_rows, task_colours


def lines(ax):
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def test_thresholds_are_lines_in_mib():
    shown = lines(plot_dirty_state(dirty_state()))
    assert set(shown) == {"dirty limit", "dirty threshold", "background threshold"}
    assert set(shown["dirty threshold"].get_ydata()) == {20}
    assert shown["dirty limit"].get_ydata()[0] == 27
    assert shown["dirty limit"].get_ydata()[-1] == 22


def test_writeback_lies_on_what_is_dirty():
    ax = plot_dirty_state(dirty_state())
    areas = {area.get_label(): area for area in ax.collections}
    tops = {name: area.get_paths()[0].vertices[:, 1].max() for name, area in areas.items()}
    assert tops == {"dirty": 15, "+ writeback": 27}


def test_limit_fits_into_its_pane():
    assert plot_dirty_state(dirty_state()).get_ylim()[1] > 27


def test_time_counts_from_the_zero():
    ax = plot_dirty_state(dirty_state(), zero_ns=2 * S)
    assert lines(ax)["dirty threshold"].get_xdata()[0] == -2


def test_a_million_states_are_drawn_as_what_the_eye_sees():
    ax = plot_dirty_state(dirty_state(1_000_000))
    assert sum(len(path.vertices) for area in ax.collections for path in area.get_paths()) < 200_000
    assert max(len(line.get_xdata()) for line in ax.lines) < 20


def test_only_pauses_are_points_in_ms():
    shown = lines(plot_pauses_asked(throttling()))
    assert set(shown) == {"l1", "mw1"}
    assert {value for line in shown.values() for value in line.get_ydata()} == {200}
    assert sum(len(line.get_xdata()) for line in shown.values()) == 50


def test_rates_of_zero_lie_on_the_lower_edge():
    ax = plot_rate_limits(throttling())
    shown = lines(ax)
    assert set(shown) == {"l1", "mw1", "base rate of the device"}
    assert {float(value) for value in shown["l1"].get_ydata()} == {ax.get_ylim()[0], 4 * MIB}
    assert set(shown["base rate of the device"].get_ydata()) == {8 * MIB, MIB}


def test_a_task_has_one_colour_on_all_panes():
    data = throttling()
    asked, limits = lines(plot_pauses_asked(data)), lines(plot_rate_limits(data))
    for task in ("l1", "mw1"):
        assert asked[task].get_color() == limits[task].get_color()


def test_event_rates_on_a_logarithmic_scale_without_a_line_where_there_are_none():
    edges = np.arange(4, dtype=np.int64) * S
    ax = plot_event_rates(Rates(edges, {"a": np.array([10.0, 0.0, 1000.0])}))
    assert ax.get_yscale() == "log"
    assert lines(ax)["a"].get_ydata() == pytest.approx([10, np.nan, 1000, 1000], nan_ok=True)


def test_the_most_frequent_task_has_the_first_colour():
    assert task_colours(["x", "y", "y"]) == {"y": SERIES[0], "x": SERIES[1]}


def test_long_names_need_a_second_row():
    assert legend_rows(["dirty", "limit"]) == 1
    assert legend_rows([f"ext4_es_lookup_extent_{i}" for i in range(8)]) == 2
