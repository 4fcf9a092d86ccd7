"""The worst tenth of responses with a known one."""

import numpy as np
import pytest
from support.explored import design

from wblab.analysis.sensitivity.tail import beyond, in_tail, pair_map, tail_map

FACTORS = {"size": (8, True), "order": (6, False), "idle": (5, False), "dummy": (5, False)}


@pytest.fixture(scope="module")
def made():
    return design(2048, FACTORS)


def spiky(codes, seed=1):
    """Return values that are ten times larger at size above 3 and order 0."""
    random = np.random.default_rng(seed)
    return random.uniform(1, 2, len(codes)) * np.where((codes[:, 0] > 3) & (codes[:, 1] == 0), 10, 1)


def leading(found, which):
    return {(level.factor, level.level) for level in found.levels if level.leads == which}


@pytest.mark.parametrize("more_is_better", [False, True])
def test_levels_more_and_less_frequent_in_the_tail_are_found(made, more_is_better):
    factors, _, codes = made
    values = spiky(codes)  # 1/12 of the rows are high
    found = tail_map(factors, codes, -values if more_is_better else values, more_is_better)
    large = {("size", f"size{level}") for level in range(4, 8)}
    assert leading(found, 1) == {*large, ("order", "order0")}
    assert leading(found, -1) >= {("size", f"size{level}") for level in range(4)}
    assert not {factor for factor, _ in leading(found, 1) | leading(found, -1)} & {"idle", "dummy"}
    assert found.share == pytest.approx(0.1, abs=0.001)
    (order,) = [level for level in found.levels if level.level == "order0"]
    assert order.low <= 0.5 <= order.high
    assert order.share == pytest.approx(0.5, abs=0.07)


def test_noise_gives_false_levels_at_the_nominal_rate(made):
    factors, _, codes = made
    random = np.random.default_rng(3)
    claimed = [
        any(level.leads for level in tail_map(factors, codes, random.lognormal(size=len(codes))).levels)
        for _ in range(60)
    ]
    assert sum(claimed) <= 8


def test_ties_at_the_threshold():
    half = np.array([0.0] * 60 + [1.0] * 40)
    assert in_tail(half, more_is_better=False)[1].sum() == 40
    assert in_tail(half, more_is_better=True)[1].sum() == 0
    rare = np.array([0.0] * 95 + [1.0] * 5)
    assert in_tail(rare, more_is_better=False)[1].tolist() == (rare > 0).tolist()
    assert in_tail(np.arange(100.0), more_is_better=False)[1].sum() == 10


def test_equal_values_have_no_tail(made):
    factors, _, codes = made
    assert tail_map(factors, codes, np.ones(len(codes))) is None
    assert tail_map(factors, codes[:0], np.ones(0)) is None


def test_a_level_of_all_rows_has_no_effect(made):
    factors, _, codes = made
    one = codes.copy()
    one[:, 2] = 1
    (level,) = [item for item in tail_map(factors, one, spiky(codes)).levels if item.factor == "idle"]
    assert (level.rows, level.leads) == (2048, 0)
    assert np.isnan(level.q)


def test_maps_of_pairs(made):
    factors, _, codes = made
    values = spiky(codes)
    found = pair_map((factors[0], codes[:, 0]), (factors[1], codes[:, 1]), values)
    rows, inside, reached = (np.array(getattr(found, name)) for name in ("rows", "inside", "reached"))
    assert rows.shape == (8, 6)
    assert rows.sum() == 2048
    assert inside.sum() == in_tail(values, more_is_better=False)[1].sum()
    spikes = np.zeros((8, 6), bool)
    spikes[4:, 0] = True
    assert (inside[spikes] == rows[spikes]).all()
    assert reached[spikes].all()
    less = pair_map((factors[0], codes[:, 0]), (factors[1], codes[:, 1]), 1 / values, more_is_better=True)
    assert less.inside == found.inside


def test_the_share_of_rows_above_a_limit():
    found = beyond(np.array([1.0, 2.0, 2.0, 3.0]), "two", 2.0)
    assert (found.name, found.bound, found.rows, found.inside) == ("two", 2.0, 4, 1)
    assert found.low < 0.25 < found.high
