"""Equal places get equal numbers, whatever the size of their devices, sectors and inodes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wblab.analysis.runs.places import same

_ANY = st.integers(-(1 << 63), (1 << 63) - 1)
_FEW = st.integers(0, 3)


@given(arrays(np.int64, (9, 3), elements=st.one_of(_FEW, _ANY)))
def test_rows_are_equal_if_their_numbers_are(rows: np.ndarray) -> None:
    one, other = same(tuple(rows[:4].T), tuple(rows[4:].T))
    numbers = np.concatenate([one, other])
    assert np.array_equal(numbers[:, None] == numbers, (rows[:, None] == rows).all(axis=2))
    assert numbers.min() >= 0
    assert numbers.max() < 1 << 31
