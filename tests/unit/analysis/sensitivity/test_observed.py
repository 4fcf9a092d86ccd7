"""Tables that are refused as observations."""

import numpy as np
import pytest

from wblab.analysis.sensitivity.observed import (
    Factor,
    Observed,
    Response,
    between_levels,
    beyond_both,
    incidence,
    residuals,
)

FACTORS = (Factor("limit", ("small", "large"), ordered=True), Factor("dummy", ("a", "b"), ordered=False, is_dummy=True))
U = np.array([[0.1, 0.9], [0.7, 0.2], [0.3, 0.4]])
CODES = (U >= 0.5).astype(np.int64)


def response(rows=3):
    return {"pause": Response("pause", "s", np.arange(float(rows)))}


def test_matching_shapes_are_accepted():
    observed = Observed(FACTORS, U, CODES, response())
    assert observed.codes.shape == (3, 2)


@pytest.mark.parametrize(
    ("factors", "u", "codes", "rows", "said"),
    [
        (FACTORS[:1], U, CODES, 3, "do not fit"),
        (FACTORS, U[:2], CODES, 3, "do not fit"),
        (FACTORS, U, CODES.astype(float), 3, "must be integers"),
        (FACTORS[:1] * 2, U, CODES, 3, "same name"),
        (FACTORS, U + 0.5, CODES, 3, r"not in \[0, 1\)"),
        (FACTORS, U, CODES + 1, 3, "outside its 2 levels"),
        (FACTORS, U, CODES, 2, "values of 3 rows"),
    ],
)
def test_mismatched_shapes_are_refused(factors, u, codes, rows, said):
    with pytest.raises(ValueError, match=said):
        Observed(factors, u, codes, response(rows))


def columns(*codes):
    return np.column_stack([np.ones(len(codes[0])), *(code == level for code in codes for level in np.unique(code))])


def rest_of(fit, values):
    return float(((values - fit @ np.linalg.lstsq(fit, values, rcond=None)[0]) ** 2).sum())


@pytest.fixture(params=range(6))
def table(request):
    """Rows in cells of any size; from the third table on, with empty levels and cells."""
    random = np.random.default_rng(request.param)
    rows, sizes = 60, (5, 4)
    one, two = (random.choice(size, rows, p=random.dirichlet(np.ones(size))) for size in sizes)
    if request.param < 2:
        one, two = np.arange(rows) % 5, np.arange(rows) % 4
    return one, two, sizes, random.normal(size=rows) + one * 0.5 + (one * two) % 3


def test_sums_of_squares_between_levels(table):
    one, _, sizes, values = table
    values = values[:, None]
    split = between_levels(
        *(incidence([one], sizes[:1], len(one)) @ of for of in (np.ones_like(values), values)), (values**2).sum(0)
    )
    within = rest_of(columns(one), values[:, 0])
    assert split.within[0] == pytest.approx(within)
    assert split.between[0] == pytest.approx(float(((values - values.mean()) ** 2).sum()) - within)
    assert (split.ways[0], split.freedom[0]) == (len(set(one)) - 1, len(one) - len(set(one)))


def test_sums_of_squares_beyond_both_factors(table):
    one, two, sizes, values = table
    cells = one * sizes[1] + two
    adder, wide = incidence([cells], [sizes[0] * sizes[1]], len(one)), values[:, None]
    counts, sums = ((adder @ of).reshape(*sizes, 1) for of in (np.ones_like(wide), wide))
    split = beyond_both(counts, sums, (wide**2).sum(0))
    additive, within = rest_of(columns(one, two), values), rest_of(columns(cells), values)
    rank = np.linalg.matrix_rank(columns(one, two))
    assert split.within[0] == pytest.approx(within)
    assert split.between[0] == pytest.approx(additive - within)
    assert (split.ways[0], split.freedom[0]) == (len(set(cells)) - rank, len(one) - len(set(cells)))


def test_samples_do_not_affect_each_other():
    random = np.random.default_rng(1)
    counts, sums = random.integers(0, 4, (3, 2, 5)).astype(float), random.normal(size=(3, 2, 5))
    sums *= counts > 0
    together = beyond_both(counts, sums, np.full(5, 50.0))
    for sample in range(5):
        of = slice(sample, sample + 1)
        alone = beyond_both(counts[..., of], sums[..., of], np.array([50.0]))
        assert together.between[sample] == pytest.approx(alone.between[0])
        assert together.ways[sample] == alone.ways[0]


def test_residuals_of_main_effects():
    random = np.random.default_rng(2)
    one, two = random.integers(5, size=80), random.integers(3, size=80)
    values = random.normal(size=80)
    left, rank = residuals(incidence([one, two], [5, 3], 80), values)
    assert rank == 7
    assert (left**2).sum() == pytest.approx(rest_of(columns(one, two), values))
