"""Tables that are refused as observations."""

import numpy as np
import pytest

from wblab.analysis.sensitivity.observed import Factor, Observed, Response

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
