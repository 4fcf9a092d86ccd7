"""The line fsync = a + n · latency, fitted to medians."""

import pandas as pd
import pytest
from latency import fit_line, lines, plot_latency

ROWS = [("ext4", "device", "s1", "fsync", time, 40 + 3 * time, 3) for time in (0.0, 1e2, 1e3, 1e4)]
COLUMNS = ["filesystem", "model", "load", "call", "latency_us", "median_us", "served"]


@pytest.fixture
def frame():
    return pd.DataFrame([*ROWS, ("ext4", "ram", "s1", "fsync", 0, 7, 0)], columns=COLUMNS)


def test_a_line_has_a_slope_and_an_intercept():
    assert fit_line(pd.DataFrame(ROWS, columns=COLUMNS)) == pytest.approx((40, 3, 0), abs=1e-3)


def test_disks_with_several_latencies_have_a_line(frame):
    found = lines(frame)
    assert found.index.tolist() == [("ext4", "device", "s1", "fsync")]
    assert found["slope"].iloc[0] == pytest.approx(3)
    assert found["served"].iloc[0] == "3 to 3"


def test_a_line_says_what_a_call_takes_by_latency():
    (label,) = plot_latency(pd.DataFrame(ROWS, columns=COLUMNS)).get_legend_handles_labels()[1]
    assert label == "ext4: 40 µs + 3.00 · latency"
