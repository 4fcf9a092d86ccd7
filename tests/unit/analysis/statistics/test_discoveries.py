"""The claims that many tests together permit."""

import numpy as np
import pytest
from scipy.stats import norm

from wblab.analysis.statistics.contrasts import corrected, joint_confidence
from wblab.analysis.statistics.intervals import RATE


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
