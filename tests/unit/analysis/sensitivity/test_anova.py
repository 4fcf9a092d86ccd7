"""Shares of variance of responses with known shares: ordered, unordered, interacting, none."""

import numpy as np
import pytest
from support.explored import design, ishigami, ishigami_shares, level_effects

from wblab.analysis.sensitivity.anova import Sampling, variance
from wblab.analysis.sensitivity.observed import Factor, joined

QUICK = Sampling(permutations=999, resamples=100)
FACTORS = {"ordered": (12, True), "names": (24, False), "few": (3, False), "idle": (6, True), "dummy": (5, False)}


def analysed(made, values, seed=1, sampling=QUICK):
    factors, _, codes = made
    return variance(factors, codes, values, np.random.default_rng(seed), sampling)


def of(found, *names):
    (effect,) = [item for item in (*found.mains, *found.pairs) if set(item.factors) == set(names)]
    return effect


def holds(effect, truth):
    return effect.low <= truth <= effect.high


@pytest.mark.parametrize("seed", range(3))
def test_additive_effects_of_levels(seed):
    made = design(2048, FACTORS, seed)
    _, _, codes = made
    line = np.sqrt(0.3 / np.var(np.arange(12))) * np.arange(12)
    values = line[codes[:, 0]] + level_effects(24, 0.15)[codes[:, 1]] + level_effects(3, 0.05)[codes[:, 2]]
    values += np.random.default_rng(seed).normal(0, np.sqrt(0.5), len(values))
    found = analysed(made, values)
    truths = {"ordered": 0.3, "names": 0.15, "few": 0.05, "idle": 0, "dummy": 0}
    for name, truth in truths.items():
        assert holds(of(found, name), truth), name
        assert of(found, name).found == (truth > 0), name
    assert not any(effect.found for effect in found.pairs)
    assert all(holds(effect, 0) for effect in found.pairs)


def test_the_exclusive_or_of_two_factors_is_an_interaction():
    made = design(1024, {"one": (4, False), "two": (6, False), "dummy": (5, False)})
    codes = made[2]
    values = (codes[:, 0] + codes[:, 1]) % 2 + np.random.default_rng(1).normal(0, 0.5, 1024)  # variances 1/4 and 1/4
    found = analysed(made, values)
    assert holds(of(found, "one", "two"), 0.5)
    assert [effect.factors for effect in (*found.mains, *found.pairs) if effect.found] == [("one", "two")]
    assert all(holds(effect, 0) for effect in found.mains)


def test_shares_of_the_ishigami_function():
    made = design(4096, {"x1": (16, True), "x2": (16, True), "x3": (16, True), "dummy": (16, True)})
    found = analysed(made, ishigami(made[1]))
    first, second, third, both = ishigami_shares(16, of_pairs=8)
    assert [holds(effect, truth) for effect, truth in zip(found.mains, (first, second, third, 0), strict=True)] == [
        True
    ] * 4
    assert [effect.found for effect in found.mains] == [True, True, False, False]
    assert holds(of(found, "x1", "x3"), both)
    assert [effect.factors for effect in found.pairs if effect.found] == [("x1", "x3")]


def test_main_effects_of_other_factors_do_not_hide_an_interaction():
    made = design(1024, {"one": (4, False), "two": (4, False), "loud": (8, True), "dummy": (5, False)})
    codes = made[2]
    values = 5.0 * codes[:, 2] + (codes[:, 0] + codes[:, 1]) % 2 + np.random.default_rng(1).normal(0, 0.5, 1024)
    pair = of(analysed(made, values), "one", "two")
    truth = 0.25 / (25 * np.var(np.arange(8)) + 0.5)
    assert pair.found
    assert holds(pair, truth)
    assert pair.high - pair.low < 2 * truth


def test_noise_gives_false_effects_at_the_nominal_rate():
    claims = []
    for seed in range(60):
        made = design(256, FACTORS, seed)
        found = analysed(made, np.random.default_rng(seed).lognormal(size=256), seed, Sampling(199, 20))
        claims.append(any(effect.found for effect in (*found.mains, *found.pairs)))
    assert sum(claims) <= 8  # 3 of 60; more than 8 happen one time in 400


def test_unequal_variance_is_not_an_interaction():
    """A response that is noisy at one level: shuffled rows would find pairs there two to four times too often."""
    p, claims = [], 0
    for seed in range(30):
        made = design(512, {"loud": (8, True), "names": (8, False), "dummy": (6, False)}, seed)
        values = np.random.default_rng(seed).normal(size=512) * np.where(made[2][:, 0] == 7, 20, 1)
        found = analysed(made, values, seed, Sampling(199, 20))
        p += [effect.p for effect in found.pairs]
        claims += any(effect.found for effect in found.pairs)
    assert np.mean(np.array(p) <= 0.05) <= 0.1
    assert claims <= 5


def test_the_interval_covers_a_small_share_of_many_levels():
    effects, hits, count = level_effects(24, 0.02), 0, 100
    for seed in range(count):
        made = design(1024, {"names": (24, False)}, seed)
        values = effects[made[2][:, 0]] + np.random.default_rng(seed).normal(0, np.sqrt(0.98), 1024)
        hits += holds(analysed(made, values, seed, Sampling(19, 100)).mains[0], 0.02)
    assert hits >= 90


def test_constant_responses_and_too_few_rows_give_no_effects():
    made = design(40, FACTORS)
    same = analysed(made, np.full(40, 3.0))
    assert not any(effect.found for effect in (*same.mains, *same.pairs))
    assert all(np.isnan(effect.share) for effect in same.mains)
    few = analysed(made, np.random.default_rng(1).normal(size=40))
    assert all(np.isnan(effect.p) for effect in few.pairs)
    assert not any(effect.found for effect in few.pairs)
    assert few.rows == 40
    none = analysed((made[0], made[1][:0], made[2][:0]), np.zeros(0))
    assert none.rows == 0


def test_an_estimate_lies_in_its_interval_of_at_most_1():
    made = design(64, {"one": (12, True), "two": (2, False), "dummy": (8, True)})
    rare = np.zeros(64)
    rare[[3, 40]] = 1  # one of seven samples has neither
    for values in (rare, made[2][:, 1] + rare):
        for effect in analysed(made, values).mains:
            assert effect.low <= effect.share <= effect.high <= 1


def test_two_levels_without_noise():
    made = design(64, {"one": (2, False), "dummy": (2, False)})
    found = analysed(made, made[2][:, 0].astype(float))
    assert of(found, "one").share == pytest.approx(1)
    assert of(found, "one").found


def test_only_the_seed_decides_random_numbers():
    made = design(200, FACTORS)
    values = np.random.default_rng(1).normal(size=200)
    assert repr(analysed(made, values)) == repr(analysed(made, values))  # repr: NaN != NaN
    assert repr(analysed(made, values)) != repr(analysed(made, values, seed=2))


def test_only_ordered_levels_are_joined():
    factor = Factor("size", tuple("abcdefghij"), ordered=True)
    few, codes = joined(factor, np.arange(10), most=4)
    assert few.levels == ("a … c", "d … e", "f … h", "i … j")
    assert codes.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]
    names = Factor("name", tuple("abcdefghij"), ordered=False)
    assert joined(names, np.arange(10), most=4)[0] is names
    assert joined(factor, np.arange(10), most=10)[0] is factor
