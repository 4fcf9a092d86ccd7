import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wblab.analysis.runs.throttling import (
    dirty_limit,
    dirty_thresholds,
    flush_time_s,
    freerun,
    hard_dirty_limit,
    position_ratio,
    setpoint,
)

PAGES = st.integers(min_value=0, max_value=2**32 - 1)

# A run of experiments/base.toml on Linux 7.3: the first pages that l1 dirtied over freerun, on a device that was not
# measured yet (100 MiB/s). Of global_dirty_state: bg_thresh, thresh, limit; of balance_dirty_pages: setpoint, dirty
# (and wb_dirty, of the only disk), wb_setpoint, task_ratelimit in KiB/s; dirty_ratelimit is 102400 KiB/s.
TRACE = np.array(
    [
        (2719, 5445, 6974, 5528, 4106, 5432, 200700),
        (2718, 5444, 6974, 5527, 4138, 5431, 193800),
        (2718, 5442, 6974, 5527, 4202, 5431, 181900),
        (2715, 5438, 6974, 5525, 4331, 5429, 160200),
        (2713, 5434, 6974, 5523, 4548, 5427, 133900),
        (2711, 5430, 6974, 5522, 4765, 5426, 117100),
        (2711, 5429, 6926, 5498, 4982, 5402, 107300),
    ]
).T


def truncated(dividend, divisor):
    """Divide as C does."""
    return abs(dividend) // divisor * (1 if dividend >= 0 else -1)


def polynomial(dirty, center, limit):
    """Return the position ratio in 1/1024, by unbounded integers."""
    x = truncated(1024 * (center - dirty), (limit - center) | 1)
    return max(0, min(2048, 1024 + x * (x * x // 1024) // 1024))


def test_the_defaults_in_pages():
    """20 % is 819/4096 and 10 % is 409/4096: the threshold is not quite 20 %, the background not quite half of it."""
    assert dirty_thresholds(40_960) == (4090, 8190)
    background, threshold = dirty_thresholds(np.array([27_753, 27_672]))
    assert background.tolist() == [2771, 2763]
    assert threshold.tolist() == [5549, 5533]


def test_thresholds_by_bytes():
    assert dirty_thresholds(1000, dirty_bytes=4096 * 8, dirty_background_bytes=4096 * 3 + 1) == (4, 8)
    assert dirty_thresholds(1000, dirty_bytes=65536 * 8, dirty_background_bytes=1, page_bytes=65536) == (1, 8)
    assert dirty_thresholds(40_960, dirty_bytes=0, dirty_background_bytes=0) == (4090, 8190)
    background, threshold = dirty_thresholds(np.array([10, 20]), dirty_bytes=4096 * 8, background_ratio=20)
    assert (background.tolist(), threshold.tolist()) == ([1, 3], [8, 8])


def test_a_background_threshold_not_below_the_dirty_threshold_becomes_half_of_it():
    assert dirty_thresholds(4096, 20, 20) == (409, 819)
    assert dirty_thresholds(4096, 20, 50) == (409, 819)
    assert dirty_thresholds(1000, dirty_bytes=8192, dirty_background_bytes=2**40) == (1, 2)
    assert dirty_thresholds(4096, 0, 0) == (0, 0)
    assert dirty_thresholds(2**40, 100, 100) == (2**31 - 1, 2**32 - 1)


def test_the_setpoint_equals_the_traced_field():
    background, threshold, limit, center, *_ = TRACE
    assert setpoint(background, threshold, limit).tolist() == center.tolist()
    assert freerun(2788, 5576) == 4182
    assert setpoint(2788, 5576, 6974) == (6974 + 4182) // 2


def test_a_limit_below_the_threshold_counts_as_the_threshold():
    assert hard_dirty_limit([5576, 5576], [6974, 0]).tolist() == [6974, 5576]
    assert setpoint(2788, 5576, 0) == (5576 + 4182) // 2


def test_position_ratio_by_hand():
    """x is 1022/1447 of 1024, 723; 723² / 1024 is 510, 510 * 723 / 1024 is 360; below 0 rounding goes down."""
    assert position_ratio(5528 - 1022, 5528, 6974) == (1024 + 360) / 1024
    assert position_ratio(5528 + 1022, 5528, 6974) == (1024 - 361) / 1024
    assert polynomial(5528 - 1022, 5528, 6974) == 1024 + 360


def test_position_ratio_at_known_points():
    lowest, center, limit = freerun(2788, 5576), 5578, 6974
    ratios = position_ratio([0, lowest, center, limit - 1, limit, 2**32 - 1], center, limit)
    assert ratios.tolist() == pytest.approx([2, 2, 1, 0, 0, 0], abs=8 / 1024)
    assert ratios[[0, 2, 4, 5]].tolist() == [2, 1, 0, 0]


@given(PAGES, PAGES, PAGES)
def test_position_ratio_uses_integer_arithmetic(dirty, center, limit):
    assume(center < limit)
    expected = 0 if dirty >= limit else polynomial(dirty, center, limit)
    assert position_ratio(dirty, center, limit) == expected / 1024


@given(PAGES, PAGES, PAGES)
def test_position_ratio_is_near_the_polynomial(dirty, center, limit):
    assume(center < limit)
    cubic = 1 + max(-1, min(1, (center - dirty) / (limit - center))) ** 3
    assert position_ratio(dirty, center, limit) == pytest.approx(cubic, abs=5 / 1024 + 3 / (limit - center + 1))


@given(st.lists(PAGES, min_size=2, max_size=50), PAGES, PAGES)
def test_position_ratio_never_rises(dirty, center, limit):
    assume(center < limit)
    ratios = position_ratio(np.sort(np.array(dirty)), center, limit)
    assert (np.diff(ratios) <= 0).all()
    assert ((ratios >= 0) & (ratios <= 2)).all()


def test_dirty_limit_equals_the_trace():
    """The first updates of the run of TRACE; in the third the dirty pages, not the threshold, are the aim."""
    assert dirty_limit([5430, 5412, 5391, 5381], [4765, 5791, 6825, 6682], 6974).tolist() == [6926, 6891, 6889, 6883]


def test_dirty_limit_rises_at_once_and_falls_slowly():
    assert dirty_limit([6000, 6000, 5000], 0, 5576).tolist() == [6000, 6000, 6000 - 1000 // 32]
    assert dirty_limit(5000, 0, 4000).tolist() == [5000]


def test_dirty_limit_stops_31_pages_above():
    limits = dirty_limit(np.full(1000, 5184), 0, 6974)
    assert limits[-1] == 5184 + 31
    assert limits[22] - 5184 == pytest.approx((6974 - 5184) / 2, rel=0.05)


def test_dirty_limit_is_not_raised_to_the_dirty_pages():
    assert dirty_limit([5000, 5000], [7000, 7000], 6000).tolist() == [6000, 6000]


@given(st.lists(st.tuples(PAGES, PAGES), min_size=1, max_size=50), PAGES)
def test_dirty_limit_is_never_lowered_below_the_dirty_pages(updates, start):
    thresholds, dirty = (np.array(row) for row in zip(*updates, strict=True))
    limits = dirty_limit(thresholds, dirty, start)
    before = np.concatenate([[start], limits[:-1]])
    lowered = limits < before
    assert (limits >= thresholds).all()
    assert (limits[lowered] > dirty[lowered]).all()
    assert (limits[limits > before] == thresholds[limits > before]).all()


def test_flush_time():
    assert flush_time_s(2788 * 4096, 1024**2) == pytest.approx(10.890625)
    assert flush_time_s([0, 2**20], 2**20).tolist() == [0, 1]
