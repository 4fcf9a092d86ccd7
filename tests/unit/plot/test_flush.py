import itertools

import numpy as np
import pandas as pd
import pytest

from wblab.analysis.runs.flush import fit_flush
from wblab.plot.flush import flush_figure, plot_ahead, plot_flush

MIB = 1 << 20


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
