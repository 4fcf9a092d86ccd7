"""SALib's estimates for responses with known shares; SALib changes no global state."""

import warnings

import numpy as np
import pytest
from support.explored import design, ishigami, level_effects

from wblab.analysis.sensitivity.salib import estimates

NAMES = {"x1": (16, True), "x2": (16, True), "x3": (16, True), "sched_raw": (24, False), "dummy": (5, False)}


@pytest.fixture(scope="module")
def made():
    return design(2048, NAMES)


def test_estimates_of_the_ishigami_function(made):
    factors, u, _ = made
    said = estimates(factors, u, ishigami(u), seed=0)
    assert [item.factor for item in said] == ["x1", "x2", "x3", "dummy"]
    for item, truth in zip(said, (0.314, 0.442, 0, 0), strict=True):
        assert item.agrees(truth, truth), item
        assert item.of_classes == pytest.approx(truth, abs=0.06)
        assert item.agrees(0.9, 1) is False
    assert said[2].distance > 1.5 * said[3].distance  # x3 matters only together with x1
    assert min(said[0].tail, said[1].tail, said[2].tail) > 3 * said[3].tail


def test_the_worst_rows_are_the_smallest_if_more_is_better(made):
    factors, u, _ = made
    values = -np.exp(5 * u[:, 0])  # far below the others where x1 is large
    low, high = (estimates(factors, u, values, 0, more)[0].tail for more in (True, False))
    assert estimates(factors, u, -values, 0)[0].tail == pytest.approx(low)
    assert low > 10
    assert high > 10


def test_unordered_factors_are_left_out(made):
    factors, u, codes = made
    values = level_effects(24, 0.13)[codes[:, 3]] + np.random.default_rng(1).normal(0, np.sqrt(0.87), len(codes))
    assert "sched_raw" not in [item.factor for item in estimates(factors, u, values, 0)]


def test_too_few_rows_give_no_estimates(made):
    factors, u, _ = made
    assert estimates(factors, u, np.ones(len(u)), 0) == ()
    assert estimates(factors, u[:20], ishigami(u[:20]), 0) == ()
    assert estimates(factors[3:4], u[:, 3:4], ishigami(u), 0) == ()


def test_global_state_is_restored_and_the_seed_decides(made):
    factors, u, _ = made
    state, written, filters = np.random.get_state()[1].copy(), warnings.formatwarning, list(warnings.filters)
    first, second = (estimates(factors, u, ishigami(u), seed=0) for _ in range(2))
    assert first == second
    assert first != estimates(factors, u, ishigami(u), seed=1)
    assert (np.random.get_state()[1] == state).all()
    assert (warnings.formatwarning, warnings.filters) == (written, filters)
