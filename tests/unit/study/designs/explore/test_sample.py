"""Latin hypercubes: balanced, and the same for the same seed."""

from dataclasses import replace

import numpy as np
import pytest

from wblab.core.errors import InputError
from wblab.study.designs.explore.design import Head
from wblab.study.designs.explore.sample import sample

HEAD = Head(name="d", base="base", runs=64)


def test_each_column_has_one_run_in_each_stratum():
    points = sample(HEAD, 5)
    assert points.shape == (64, 6)
    assert (np.sort(np.floor(points * 64), axis=0) == np.arange(64)[:, None]).all()


def test_the_seed_decides_the_sample():
    assert (sample(HEAD, 5) == sample(HEAD, 5)).all()
    assert not (sample(HEAD, 5) == sample(replace(HEAD, seed=2), 5)).any()


def test_strength_two_balances_pairs():
    points = sample(replace(HEAD, runs=49, strength=2), 4)
    cells = np.floor(points * 7).astype(int)
    for first in range(5):
        for second in range(first):
            assert len(set(zip(cells[:, first], cells[:, second], strict=True))) == 49


@pytest.mark.parametrize(
    ("runs", "factors", "said"),
    [(64, 3, "the square of a prime, not 64: write 49 or 121"), (9, 5, "9 runs balance at most 3 factors, not 5")],
)
def test_strength_two_needs_the_square_of_a_prime(runs, factors, said):
    with pytest.raises(InputError, match=said):
        sample(replace(HEAD, runs=runs, strength=2), factors)
