"""The line fsync = a + n · latency, fitted to medians."""

import numpy as np
import pandas as pd
import pytest

from wblab.analysis.layers.sweep import fit_line, lines

LATENCIES = np.array([0.0, 1e5, 1e6, 1e7])


def test_a_line_has_a_slope_and_an_intercept():
    line = fit_line(LATENCIES, 40_000 + 3 * LATENCIES)
    assert (line.software_ns, line.served) == pytest.approx((40_000, 3))
    assert line.most_off_ns == pytest.approx(0, abs=1)


def test_disks_with_several_latencies_have_a_line():
    rows = [("ext4", "device", "s1", "fsync", time, 3 * time, 3) for time in LATENCIES]
    rows += [("ext4", "ram", "s1", "fsync", 0, 7, 0)]
    columns = ["filesystem", "model", "load", "call", "latency_ns", "median_ns", "served"]
    found = lines(pd.DataFrame(rows, columns=columns))
    assert found.index.tolist() == [("ext4", "device", "s1", "fsync")]
    assert found["slope"].iloc[0] == pytest.approx(3)
    assert found["served"].iloc[0] == "3 to 3"
