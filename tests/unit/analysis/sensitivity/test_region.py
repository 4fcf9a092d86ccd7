"""The best region and the Pareto front of responses with known ones."""

import numpy as np
from support.explored import design, observed

from wblab.analysis.sensitivity.observed import Response
from wblab.analysis.sensitivity.region import best_region, front

FACTORS = {"limit": (10, True), "scheduler": (4, False), "memory": (6, True), "idle": (5, True), "dummy": (9, True)}


def invented(rows=1024, seed=1, spread=0.2):
    """Return pauses that a small limit and scheduler2 keep short, and a throughput that the limit reduces."""
    made = design(rows, FACTORS, seed)
    codes, random = made[2], np.random.default_rng(seed)
    chance = np.exp(random.normal(0, spread, (2, rows)))
    pause = (1 + codes[:, 0]) * np.where(codes[:, 1] == 2, 0.2, 1) * chance[0]
    rate = (50 + 5 * codes[:, 0]) * chance[1]
    return observed(made, {"pause": pause, "rate": Response("rate", "bytes/s", rate, more_is_better=True)})


def test_the_levels_that_keep_pauses_short_and_what_they_cost():
    data = invented()
    region = best_region(data, data.responses["pause"], [data.responses["rate"]], np.random.default_rng(1))
    held = {condition.factor: condition.levels for condition in region.conditions}
    assert held["scheduler"] == ("scheduler2",)
    assert held["limit"][0] == "limit0"
    assert "dummy" not in held
    inside, everywhere = ({spread.response: spread for spread in of} for of in (region.inside, region.everywhere))
    assert inside["pause"].p90 < 0.2 * everywhere["pause"].p90
    assert inside["rate"].median < everywhere["rate"].median
    assert inside["rate"].worst <= inside["rate"].p90 <= inside["rate"].median
    assert region.tail == 0
    assert region.tail_low < 1e-12 < region.tail_high < 0.25
    assert region.total == 512


def test_more_is_better():
    data = invented()
    region = best_region(data, data.responses["rate"], [data.responses["pause"]], np.random.default_rng(1))
    (limit,) = [condition for condition in region.conditions if condition.factor == "limit"]
    assert limit.levels[-1] == "limit9"
    assert region.inside[0].p90 > region.everywhere[0].p90


def test_a_region_chosen_by_chance_is_not_reported_as_better():
    """Noise sometimes gives a region; the other half of the rows then finds it no better."""
    ratios = []
    for seed in range(20):
        made = design(512, FACTORS, seed)
        data = observed(made, {"noise": np.random.default_rng(seed).lognormal(size=512)})
        region = best_region(data, data.responses["noise"], [], np.random.default_rng(seed))
        ratios += [region.inside[0].p90 / region.everywhere[0].p90] if region else []
    assert len(ratios) >= 10
    assert 0.7 < np.median(ratios) < 1.4


def test_without_a_better_region_the_result_is_none():
    made = design(512, FACTORS)
    same = observed(made, {"pause": np.ones(512)})
    assert best_region(same, same.responses["pause"], [], np.random.default_rng(1)) is None
    few = invented(rows=60)
    assert best_region(few, few.responses["pause"], [], np.random.default_rng(1)) is None


def test_failed_rows_are_left_out():
    data = invented()
    data.responses["rate"].values[:300] = np.nan
    region = best_region(data, data.responses["pause"], [data.responses["rate"]], np.random.default_rng(1))
    assert region.total == 362
    assert np.isfinite(region.inside[1].median)


def test_the_pareto_front():
    pause = Response("pause", "s", np.array([1.0, 2.0, 3.0, 2.0, np.nan, 1.0]))
    rate = Response("rate", "bytes/s", np.array([10.0, 30.0, 20.0, 30.0, 99.0, 5.0]), more_is_better=True)
    assert front(pause, rate).tolist() == [0, 1]
    random = np.random.default_rng(1)
    one, two = (Response(name, "s", random.normal(size=200)) for name in "ab")
    best = set(front(one, two).tolist())
    for row in range(200):
        beaten = ((one.values <= one.values[row]) & (two.values <= two.values[row])).sum() > 1
        assert (row in best) != beaten
