"""Intervals of shares agree with another library."""

import pytest
from scipy.stats import binomtest

from wblab.analysis.statistics.intervals import wilson


def test_intervals_of_shares():
    lows, highs = wilson([0, 5, 50], [20, 20, 50], 0.95)
    for hits, rows, low, high in zip([0, 5, 50], [20, 20, 50], lows, highs, strict=True):
        known = binomtest(hits, rows).proportion_ci(0.95, method="wilson")
        assert (low, high) == pytest.approx((known.low, known.high), abs=1e-12)
