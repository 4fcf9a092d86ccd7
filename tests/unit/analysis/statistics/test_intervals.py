"""Intervals for distributions with a known true value."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from wblab.analysis.statistics.contrasts import corrected, joint_confidence
from wblab.analysis.statistics.intervals import RATE, Resampling, interval, wilson

TRIALS = 400


def covered(draw, truth, runs, weights):
    """Return how often the interval of a contrast of groups of so many runs contains the true value."""
    random = np.random.default_rng(7)
    hits = 0
    for number in range(TRIALS):
        groups = [draw(random, runs) + (truth if place == 0 else 0) for place in range(len(weights))]
        found = interval(groups, weights, Resampling(seed=number, count=1000))
        hits += found.low <= truth <= found.high
    return hits / TRIALS


def normal(random, runs):
    return random.normal(0, 1, runs)


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0]], ids=["one group", "two groups"])
def test_an_interval_has_its_nominal_coverage(runs, weights):
    assert 0.90 <= covered(normal, 2.0, runs, weights) <= 0.99


def test_coverage_of_skewed_values_is_close_to_nominal():
    def skewed(random, runs):
        return random.lognormal(0, 0.7, runs)

    assert covered(skewed, 1.0, 10, [1.0, -1.0]) >= 0.90


def test_equal_distributions_are_rarely_claimed_to_differ():
    random = np.random.default_rng(3)
    claims = [
        interval([random.normal(5, 1, 8), random.normal(5, 1, 8)], [1, -1], Resampling(seed=number, count=1000)).claim
        for number in range(TRIALS)
    ]
    assert np.mean(np.abs(claims)) <= 0.08


def test_a_difference_is_claimed_in_its_direction():
    less, more = [1.0, 1.1, 1.2, 0.9, 1.0], [2.0, 2.1, 1.9, 2.2, 2.0]
    assert interval([more, less], [1, -1]).claim == 1
    assert interval([less, more], [1, -1]).claim == -1
    assert interval([more], [1]).estimate == pytest.approx(2.04)


@pytest.mark.parametrize("values", [[4.0], [4.0, 5.0]])
def test_one_or_two_runs_have_no_interval_and_no_claim(values):
    found = interval([values, [1.0, 1.1, 1.2]], [1, -1])
    assert (found.low, found.high, found.claim, found.runs) == (None, None, 0, len(values))
    assert not found.known
    assert not found.without_spread
    assert found.estimate == pytest.approx(np.mean(values) - 1.1)


def test_equal_values_give_an_interval_of_no_width():
    found = interval([[1.5] * 4, [1.0] * 4], [1, -1])
    assert (found.estimate, found.low, found.high) == (0.5, 0.5, 0.5)
    assert found.without_spread
    assert found.claim == 1


def test_rounding_is_not_a_difference():
    found = interval([[0.1 + 0.2] * 3, [0.3] * 3], [1, -1])
    assert found.estimate == 0
    assert found.claim == 0
    assert interval([[1e-17, 0.0, -1e-17]], [1], scale=1.0).without_spread


def test_only_the_seed_decides_random_numbers():
    values = np.random.default_rng(1).normal(0, 1, 12)
    assert interval([values], [1], Resampling(seed=1)) == interval([values], [1], Resampling(seed=1))
    assert interval([values], [1], Resampling(seed=1)) != interval([values], [1], Resampling(seed=2))


def test_more_confidence_gives_a_wider_interval():
    values = np.random.default_rng(1).normal(0, 1, 12)
    narrow, wide = (interval([values], [1], Resampling(confidence=share)) for share in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_p_value_is_the_level_at_which_the_interval_reaches_zero():
    random = np.random.default_rng(5)
    for number in range(50):
        runs = int(random.integers(3, 12))
        found = interval([random.lognormal(0.5, 0.7, runs), random.lognormal(0, 0.7, runs)], [1, -1])
        p = found.p(0.95)
        assert (p <= 0.05) == bool(found.claim), number
        assert found.at(1 - 1.01 * p, 0.95).claim != 0
        assert found.at(1 - 0.99 * p, 0.95).claim == 0
    assert interval([[1.0, 1.0, 1.0]], [1]).p(0.95) is None
    assert interval([[1.0, 2.0]], [1]).p(0.95) is None


@pytest.mark.parametrize("runs", [3, 10])
def test_a_widened_interval_has_its_new_nominal_coverage(runs):
    random = np.random.default_rng(7)
    hits = 0
    for number in range(TRIALS):
        alone = interval([random.normal(1, 1, runs), random.normal(0, 1, runs)], [1, -1], Resampling(number, 0.8, 1000))
        wide = alone.at(0.99, 0.8)
        hits += wide.low <= 1 <= wide.high
    assert hits / TRIALS >= 0.97


def test_rescaling_to_the_same_confidence_changes_nothing():
    found = interval([[1.0, 2.0, 4.0, 3.0, 2.5]], [1])
    assert found.at(0.95, 0.95) is found


@pytest.mark.parametrize(("cells", "weights"), [([], []), ([[1.0]], [1, -1]), ([[]], [1]), ([[[1.0]]], [1])])
def test_invalid_contrasts_are_refused(cells, weights):
    with pytest.raises(ValueError, match="as many weights"):
        interval(cells, weights)


def test_intervals_of_shares():
    lows, highs = wilson([0, 5, 50], [20, 20, 50], 0.95)
    for hits, rows, low, high in zip([0, 5, 50], [20, 20, 50], lows, highs, strict=True):
        known = binomtest(hits, rows).proportion_ci(0.95, method="wilson")
        assert (low, high) == pytest.approx((known.low, known.high), abs=1e-12)


def test_a_single_comparison_is_not_corrected():
    assert corrected([0.03]).tolist() == [0.03]
    assert joint_confidence([0.03]) == joint_confidence([0.7]) == joint_confidence([]) == 0.95


def test_the_example_of_the_paper():
    """Benjamini and Hochberg (1995), section 3.2: of these 15, four are claimed."""
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.759,
        1,
    ]
    assert (corrected(p) <= 0.05).sum() == 4
    assert joint_confidence(p) == pytest.approx(1 - 0.05 * 4 / 15)


def test_untested_values_do_not_count():
    assert corrected([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert joint_confidence([0.01, np.nan]) == 0.95


def test_false_claims_and_missed_intervals_stay_below_the_rate():
    """20 of 60 normal means are not zero. False claims and missed true values are at most as frequent as permitted."""
    random = np.random.default_rng(1)
    truth = np.repeat([3.0, 0.0], [20, 40])
    false, missed = [], []
    for _ in range(400):
        seen = truth + random.normal(size=60)
        p = 2 * norm.sf(np.abs(seen))
        claimed = corrected(p) <= RATE
        reach = norm.ppf(0.5 + joint_confidence(p) / 2)
        assert (claimed == (np.abs(seen) >= reach)).all()
        if claimed.any():
            false.append((claimed & (truth == 0)).sum() / claimed.sum())
            missed.append((claimed & (np.abs(seen - truth) > reach)).sum() / claimed.sum())
    assert np.mean(false) <= RATE
    assert np.mean(missed) <= RATE


def test_invalid_p_values_are_refused():
    with pytest.raises(ValueError, match="0 and 1"):
        corrected([0.5, 1.5])
