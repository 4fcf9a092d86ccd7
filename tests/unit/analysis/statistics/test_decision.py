"""Decisions whether a figure lies in a range: rarely wrong, and certain if nothing varies."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from wblab.analysis.statistics.decision import (
    LEAST,
    NOT_DECIDED,
    NOT_REPRODUCED,
    REPRODUCED,
    Range,
    at_least,
    at_most,
    between,
    doubt,
    located,
    over,
    shared,
    under,
)


def test_ranges_include_or_exclude_their_ends():
    assert 1.0 not in over(1)
    assert 1.0 not in under(1)
    assert all(1.0 in wanted for wanted in (at_least(1), at_most(1), between(1, 1), Range()))
    assert sum(value in Range() for value in (math.nan, math.inf)) == 1


def test_the_p_value_of_few_values_is_that_of_students_test():
    values = [1.0, 1.2, 0.7]
    assert doubt(values, 0.5) == pytest.approx(ttest_1samp(values, 0.5).pvalue)
    assert doubt([1.0, 1.0, 1.0], 0.5) == 0
    assert doubt([1.0, 2.0], 0.5) == 1


@pytest.mark.parametrize("wanted", [over(46), at_least(46), between(46, 46), at_most(46)])
def test_equal_values_at_an_end_are_compared_exactly(wanted):
    found = located([46.0] * 3, wanted, is_log=True)
    assert found.outcome() == (REPRODUCED if 46.0 in wanted else NOT_REPRODUCED)


def test_a_figure_must_be_clear_of_both_ends_to_lie_between_them():
    near, far = [1.0, 1.1, 0.9, 1.05, 0.95], [1.0, 1.5, 0.6, 1.1, 0.9]
    assert located(near, between(0.8, 1.25), is_log=True).outcome() == REPRODUCED
    assert located(far, between(0.8, 1.25), is_log=True).outcome() == NOT_DECIDED
    assert located(near, between(2, 3), is_log=True).outcome() == NOT_REPRODUCED


def test_times_have_no_interval_below_zero():
    found = located([0.0, 0.001, 3.0, 0.002], at_most(1), is_log=True)
    assert 0 < found.interval.low < LEAST * 2
    assert located([0.0, 0.001, 3.0, 0.002], at_most(1), is_log=False).interval.low < 0


def test_a_mean_at_the_end_of_the_range_is_rarely_decided():
    random, decided, cases = np.random.default_rng(3), 0, 400
    for _ in range(cases):
        values = np.exp(random.normal(0, 0.4, 5)).tolist()
        decided += located(values, at_most(1), is_log=True).outcome() != NOT_DECIDED
    assert decided / cases < 0.1


@pytest.mark.parametrize(
    ("held", "seeds", "outcome"),
    [(3, 3, NOT_DECIDED), (5, 5, REPRODUCED), (0, 5, NOT_REPRODUCED), (4, 5, NOT_DECIDED), (9, 10, REPRODUCED)],
)
def test_a_share_of_seeds_is_decided_by_wilson_s_interval(held, seeds, outcome):
    found = shared(held, seeds)
    assert found.outcome() == outcome
    assert found.interval.low <= held / seeds <= found.interval.high


def test_a_corrected_p_value_replaces_the_original():
    assert shared(5, 5).outcome(0.06) == NOT_DECIDED
    assert shared(3, 3).outcome(0.01) == REPRODUCED
