"""The fit of tables with a known law."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from flush_time import (
    cells_frame,
    fit_flush,
    fits_frame,
    flush_figure,
    flush_table,
    longest_of_any,
    plot_ahead,
    plot_flush,
)

from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError

MIB = 1 << 20


def law(pause, seeds=5, spread=0.05, rates=(1, 2, 4), backgrounds=(2, 4, 8, 16)):
    """Return a table in which mw1 stalls for pause(background, rate) and w1 for a tenth of it, with some noise."""
    random = np.random.default_rng(4)
    rows = []
    for rate, background, seed in itertools.product(rates, backgrounds, range(seeds)):
        for load, share in (("w1", 0.1), ("mw1", 1.0)):
            found = share * pause(background, rate) * np.exp(random.normal(0, spread))
            cell = ("device ext4", rate * MIB, background * MIB, 2 * background * MIB, background / rate, seed)
            rows.append((*cell, load, found))
    columns = ["disk", "write_bps", "background_bytes", "limit_bytes", "flush_s", "seed", "load", "pause_s"]
    return pd.DataFrame(rows, columns=columns)


def test_the_fit_recovers_the_law():
    (fit,) = fit_flush(law(lambda background, rate: 0.8 * background / rate))
    assert fit.slope.low < 0.8 < fit.slope.high
    assert fit.slope.high - fit.slope.low < 0.05
    assert fit.is_linear


def test_a_pause_independent_of_the_threshold_is_not_linear():
    (fit,) = fit_flush(law(lambda background, rate: 4 / rate))
    assert fit.background.low < 0 < fit.background.high < 0.1
    assert fit.throughput.low < -1 < fit.throughput.high
    assert fit.is_linear is False


def test_constant_factors_have_no_exponent_and_few_runs_no_interval():
    (fit,) = fit_flush(law(lambda background, rate: background / rate, rates=(1,)))
    assert (fit.background, fit.throughput, fit.is_linear) == (None, None, None)
    (few,) = fit_flush(law(lambda background, rate: background / rate, seeds=2))
    assert few.background.estimate == pytest.approx(1, abs=0.1)
    assert not few.slope.known
    assert few.is_linear is None
    assert fits_frame([fit, few])["agrees with the law"].tolist() == ["-", "-"]


def test_cells_over_the_bound_are_counted():
    table = law(lambda background, rate: (2 if background == 4 else 0.5) * background / rate)
    broken = cells_frame(table).query("over > 0")
    assert set(broken["background_bytes"]) == {4 * MIB}
    assert set(broken["load"]) == {"mw1"}
    assert (broken["over"] == 5).all()
    assert (broken["least_s"] <= broken["mean_s"]).all()
    assert broken["ratio"].between(2, 2.4).all()


def test_the_longest_pause_of_any_load_and_the_io_ahead():
    longest = longest_of_any(law(lambda background, rate: 4 / rate, spread=0))
    assert len(longest) == 60
    assert set(longest["load"]) == {"mw1"}
    assert longest["ahead_bytes"].to_numpy() == pytest.approx(4 * MIB)


def with_sysctl(path, **settings):
    run = read_run(path)
    return replace(run, spec=replace(run.spec, sysctl=settings, seed=3))


def test_a_table_of_runs(make_run):
    ms = 10**6
    path = make_run({"c1": [0, 9000 * ms], "w1": [0, 50 * ms, 600 * ms], "mw1": [0, 100 * ms], "l1": [0, ms]})
    run = with_sysctl(path, **{"vm.dirty_background_bytes": 4 * MIB, "vm.dirty_bytes": 8 * MIB})
    table = flush_table([run])
    assert table["load"].tolist() == ["w1", "mw1"]
    assert table["pause_s"].tolist() == [0.5, 0]
    assert table.loc[0, ["disk", "write_bps", "limit_bytes", "flush_s", "seed"]].tolist() == [
        "throttle ext4", MIB, 8 * MIB, 4, 3,
    ]  # fmt: skip


def test_thresholds_in_per_cent_are_refused(make_run):
    with pytest.raises(InputError, match="its flush time is unknown: set it in bytes"):
        flush_table([read_run(make_run({"w1": [0, 50]}))])


@pytest.fixture
def table():
    """Pauses of half the flush time; on one disk, of twice the flush time if the threshold is 2 MiB."""
    rows = []
    for disk, rate, background, seed in itertools.product(("throttle ext2", "device ext4"), (1, 2), (2, 4), range(3)):
        factor = 2 if disk == "device ext4" and background == 2 else 0.5
        flush_s = background / rate
        cell = (disk, rate * MIB, background * MIB, 2 * background * MIB, flush_s, seed)
        rows += [(*cell, load, factor * flush_s * share * (1 + seed / 50)) for load, share in (("w1", 0.1), ("mw1", 1))]
    columns = ["disk", "write_bps", "background_bytes", "limit_bytes", "flush_s", "seed", "load", "pause_s"]
    return pd.DataFrame(rows, columns=columns)


def rings(ax):
    return [item for item in ax.lines if item.get_markersize() == 11]


def test_the_bound_the_fit_and_what_breaks_it(table):
    throttle, device = fit_flush(table)
    ax = plot_flush(table, device)
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["the bound", "fit", "w1", "mw1"]
    bound, fit = ax.lines[:2]
    assert list(bound.get_xdata()) == list(bound.get_ydata())
    assert fit.get_ydata() / fit.get_xdata() == pytest.approx(device.slope.estimate)
    assert sum(len(ring.get_xdata()) for ring in rings(ax)) == 2
    assert sum(len(ring.get_xdata()) for ring in rings(plot_flush(table, throttle))) == 0
    assert ax.get_xscale() == ax.get_yscale() == "log"


def test_a_pane_for_each_disk(table):
    fits = fit_flush(table)
    assert [ax.get_title(loc="left").partition(":")[0] for ax in flush_figure(table, fits).axes] == [
        "throttle ext2",
        "device ext4",
    ]
    assert len(flush_figure(table, fits[:1]).axes) == 1


def test_what_was_ahead_does_not_depend_on_the_throughput(table):
    ax = plot_ahead(table[table["disk"] == "throttle ext2"])
    points = np.concatenate([item.get_ydata() for item in ax.lines if item.get_alpha() == 0.75])
    assert len(points) == 12
    assert {round(value, 1) for value in points} == {1.0, 2.0, 2.1}
