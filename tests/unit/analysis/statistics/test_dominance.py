"""Tests of dominance: Cliff's delta, its interval, and the exact test of ranks."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, permutation_test

from wblab.analysis.statistics.dominance import (
    cliffs_delta,
    delta_interval,
    least_runs,
    magnitude,
    mann_whitney_p,
    rank_p,
)


def test_cliffs_delta_and_its_magnitude():
    assert cliffs_delta([3, 4], [1, 2]) == 1
    assert cliffs_delta([1, 2], [3, 4]) == -1
    assert cliffs_delta([1, 2, 3], [1, 2, 3]) == 0
    assert cliffs_delta([1, 3], [2]) == 0
    assert cliffs_delta([2, 2, 3], [2]) == pytest.approx(1 / 3)
    assert [magnitude(delta) for delta in (0, -0.2, 0.4, -1)] == ["negligible", "small", "medium", "large"]


def test_the_interval_of_a_delta_has_a_width_even_where_no_values_overlap():
    low, high = delta_interval(1.0, 5, 5, 0.95)
    assert high == 1
    assert 0.2 < low < 0.7
    assert delta_interval(-1.0, 5, 5, 0.95) == pytest.approx((-1, -low))
    assert delta_interval(1.0, 50, 50, 0.95)[0] > 0.9


@pytest.mark.parametrize("shift", [0.0, 0.8])
def test_the_interval_of_a_delta_has_its_nominal_coverage(shift):
    random, trials = np.random.default_rng(3), 300
    ours, theirs = random.normal(shift, 1, 4000), random.normal(0, 1, 4000)
    true, hits = cliffs_delta(ours, theirs), 0
    for _ in range(trials):
        few = cliffs_delta(random.normal(shift, 1, 8), random.normal(0, 1, 8))
        low, high = delta_interval(few, 8, 8, 0.9)
        hits += low <= true <= high
    assert 0.86 <= hits / trials <= 0.98


@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
def test_mann_whitney_is_that_of_scipy(ties):
    random = np.random.default_rng(5)
    for ours, theirs in ((3, 3), (4, 7), (6, 6)):
        first, second = random.normal(1, 1, ours), random.normal(0, 1, theirs)
        if ties:
            first, second = first.round(), second.round()
            middle = ours * theirs / 2
            wanted = permutation_test(
                (first, second),
                lambda x, y, middle=middle: abs(np.sum(x[:, None] > y) + np.sum(x[:, None] == y) / 2 - middle),
                vectorized=False,
                n_resamples=np.inf,
                alternative="greater",
            ).pvalue
        else:
            wanted = mannwhitneyu(first, second, method="exact").pvalue
        assert mann_whitney_p([(first, second)]) == pytest.approx(wanted)


def test_many_values_are_tested_by_the_normal_approximation():
    random = np.random.default_rng(6)
    first, second = random.normal(0.3, 1, 60), random.normal(0, 1, 60)
    wanted = mannwhitneyu(first, second, method="asymptotic", use_continuity=False).pvalue
    assert mann_whitney_p([(first, second)]) == pytest.approx(wanted)


def test_strata_are_tested_together():
    apart = ([4, 5, 6], [1, 2, 3])
    assert mann_whitney_p([apart]) == pytest.approx(2 / 20)
    assert mann_whitney_p([apart, apart]) == pytest.approx(2 / 400)
    assert [rank_p([apart] * strata) for strata in (1, 2, 4)] == pytest.approx([2 / 8, 2 / 64, 2 / 4096])
    assert rank_p([apart, apart[::-1]]) == 1


def test_a_group_that_spreads_around_one_that_does_not_is_no_difference():
    random, false = np.random.default_rng(8), 0
    for _ in range(400):
        false += rank_p([(random.normal(0, 1, 10), random.normal(0, 0.001, 10))]) <= 0.05
    assert false / 400 <= 0.05


def test_values_that_are_all_equal_are_no_evidence():
    assert rank_p([([1, 1, 1], [1, 1, 1])]) == 1
    assert rank_p([([1] * 50, [1] * 50)]) == 1


def test_the_number_of_runs_that_a_test_needs():
    assert [least_runs(p) for p in (0.25, 0.05, 0.0078125, 0.001)] == [3, 6, 8, 11]
