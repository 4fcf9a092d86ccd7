"""How many runs are enough, and whether a commit is good or bad."""

import numpy as np
import pytest

from wblab.analysis.statistics.decision import looks
from wblab.study.designs.bisect.judgement import difference, side


@pytest.mark.parametrize(
    ("most", "expected"),
    [(3, (3,)), (4, (3, 4)), (5, (3, 5)), (20, (3, 5, 8, 13, 20)), (34, (3, 5, 8, 13, 21, 34))],
)
def test_the_number_of_runs_grows_up_to_the_limit(most, expected):
    assert looks(most) == expected


def test_values_without_spread_decide_at_once():
    plan = looks(34)
    assert difference([1.0] * 3, [2.0] * 3, plan).claim == 1
    assert difference([1.0] * 3, [1.0] * 3, plan).claim == 0
    assert side([1.0] * 3, [1.0] * 3, [2.0] * 3, plan) == "good"
    assert side([2.0] * 3, [1.0] * 3, [2.0] * 3, plan) == "bad"
    assert side([1.5] * 3, [1.0] * 3, [2.0] * 3, plan) is None


@pytest.mark.parametrize("sign", [1, -1])
def test_a_commit_is_on_the_side_of_its_mean(sign):
    random = np.random.default_rng(1)
    good, bad = (sign * random.normal(centre, 0.1, 13) for centre in (1.0, 2.0))
    for centre, expected in ((0.2, "good"), (1.0, "good"), (1.2, "good"), (1.8, "bad"), (2.0, "bad"), (9.0, "bad")):
        values = sign * random.normal(centre, 0.1, 13)
        assert side(values, good, bad, looks(34)) == expected


def test_an_unclear_value_stays_undecided():
    random = np.random.default_rng(2)
    good, bad = random.normal(1.0, 0.1, 34), random.normal(2.0, 0.1, 34)
    assert side(random.normal(1.5, 1.0, 5), good, bad, looks(34)) is None


def test_uncertainty_of_the_ends_counts():
    values = [1.99, 2.0, 2.01]
    assert side(values, [1.0] * 3, [2.0] * 3, looks(34)) == "bad"
    assert side(values, [0.0, 1.0, 2.0], [1.0, 2.0, 3.0], looks(34)) is None


def test_repeated_looks_rarely_find_a_false_difference():
    random = np.random.default_rng(3)
    plan = looks(34)
    wrong = 0
    for _ in range(150):
        good, bad = random.normal(1.0, 0.3, (2, 34))
        wrong += any(difference(good[:seeds], bad[:seeds], plan).claim for seeds in plan)
    assert wrong <= 0.08 * 150  # 5 %, with a margin for chance
