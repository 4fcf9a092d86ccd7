import numpy as np
import pytest
from support.pictured import MIB, S, dirty_state, throttling

from wblab.analysis.runs.rates import Rates
from wblab.plot.artists import plot_pane
from wblab.plot.cachepanes import dirty_state_pane, event_rates_pane, imposed_pauses_pane, rate_limits_pane
from wblab.plot.lines import rate_ticks
from wblab.plot.style import legend_rows

LOADS = {"l1": "grey", "mw1": "skyblue"}


def lines(ax):
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def test_thresholds_are_lines_in_mib():
    shown = lines(plot_pane(dirty_state_pane(dirty_state())))
    assert set(shown) == {"dirty limit", "dirty threshold", "background threshold"}
    assert set(shown["dirty threshold"].get_ydata()) == {20}
    assert shown["dirty limit"].get_ydata()[0] == 27
    assert shown["dirty limit"].get_ydata()[-1] == 22


def test_writeback_lies_on_what_is_dirty():
    ax = plot_pane(dirty_state_pane(dirty_state()))
    areas = {area.get_label(): area for area in ax.collections}
    tops = {name: area.get_paths()[0].vertices[:, 1].max() for name, area in areas.items()}
    assert tops == {"dirty": 15, "+ writeback": 27}


def test_limit_fits_into_its_pane():
    assert plot_pane(dirty_state_pane(dirty_state())).get_ylim()[1] > 27


def test_time_counts_from_the_zero():
    ax = plot_pane(dirty_state_pane(dirty_state()), zero_ns=2 * S)
    assert lines(ax)["dirty threshold"].get_xdata()[0] == -2


def test_a_million_states_are_drawn_as_what_the_eye_sees():
    ax = plot_pane(dirty_state_pane(dirty_state(1_000_000)))
    assert sum(len(path.vertices) for area in ax.collections for path in area.get_paths()) < 200_000
    assert max(len(line.get_xdata()) for line in ax.lines) < 20


def test_only_pauses_are_points_in_ms():
    shown = lines(plot_pane(imposed_pauses_pane(throttling(), LOADS)))
    assert set(shown) == {"l1", "mw1"}
    assert {value for line in shown.values() for value in line.get_ydata()} == {200}
    assert sum(len(line.get_xdata()) for line in shown.values()) == 50


def test_rates_of_zero_lie_on_the_lower_edge():
    ax = plot_pane(rate_limits_pane(throttling(), LOADS))
    shown = lines(ax)
    assert set(shown) == {"l1", "mw1", "base rate of the device"}
    assert {float(value) for value in shown["l1"].get_ydata()} == {ax.get_ylim()[0], 4 * MIB}
    assert set(shown["base rate of the device"].get_ydata()) == {8 * MIB, MIB}


def test_a_load_has_its_colour_on_all_panes():
    for pane in (imposed_pauses_pane(throttling(), LOADS), rate_limits_pane(throttling(), LOADS)):
        shown = lines(plot_pane(pane))
        assert {task: shown[task].get_color() for task in LOADS} == LOADS


def test_event_rates_on_a_logarithmic_scale_without_a_line_where_there_are_none():
    edges = np.arange(4, dtype=np.int64) * S
    ax = plot_pane(event_rates_pane(Rates(edges, {"a": np.array([10.0, 0.0, 1000.0])})))
    assert ax.get_yscale() == "log"
    assert lines(ax)["a"].get_ydata() == pytest.approx([10, np.nan, 1000, 1000], nan_ok=True)


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (10, 1000, ["10", "100", "1,000"]),
        (0.2, 3, ["1"]),
        (2, 9, ["10"]),
        (0.2, 0.5, ["0.1"]),
        (1, 10**7, ["1", "100", "10,000", "1,000,000"]),
    ],
)
def test_counts_are_written_out(least, most, words):
    edges = np.arange(3, dtype=np.int64) * S
    ax = plot_pane(event_rates_pane(Rates(edges, {"a": np.array([float(least), most])})))
    assert [label.get_text() for label in ax.get_yticklabels()] == words
    assert [f"{tick:,g}" for tick in ax.get_yticks()] == [f"{float(word.replace(',', '')):,g}" for word in words]
    assert ax.get_ylim()[0] <= min(ax.get_yticks())


def test_rates_are_powers_of_two_in_words():
    assert list(rate_ticks(3000, 20000).values()) == ["4 KiB/s", "8 KiB/s", "16 KiB/s"]
    assert list(rate_ticks(1 << 18, 1 << 34).values()) == ["256 KiB/s", "4 MiB/s", "64 MiB/s", "1 GiB/s", "16 GiB/s"]


def test_long_names_need_a_second_row():
    assert legend_rows(["dirty", "limit"]) == 1
    assert legend_rows([f"ext4_es_lookup_extent_{i}" for i in range(8)]) == 2
