import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wblab.plot.lines import changes, visible

values = st.lists(st.integers(min_value=-50, max_value=50), min_size=1, max_size=400)


@given(values, st.integers(min_value=1, max_value=40))
def test_what_is_visible_has_the_extremes_of_every_column(numbers, columns):
    data = np.array(numbers)
    times = np.arange(len(data), dtype=np.int64) * 7
    kept = visible(times, data, columns)
    assert (np.diff(kept) > 0).all()
    assert {0, len(data) - 1} <= set(kept.tolist())
    assert data[kept].max() == data.max()
    assert data[kept].min() == data.min()
    assert len(kept) <= max(4 * columns, 4 * (columns + 2))
    if len(data) > 4 * columns:
        column = times // max(1, int(times[-1]) // columns)
        for each in np.unique(column):
            inside, shown = data[column == each], data[kept[column[kept] == each]]
            assert (inside.min(), inside.max(), inside[0], inside[-1]) == (
                shown.min(),
                shown.max(),
                shown[0],
                shown[-1],
            )


def test_few_items_are_all_kept():
    assert visible(np.arange(10, dtype=np.int64), np.zeros(10)).tolist() == list(range(10))


def test_items_of_one_moment():
    assert visible(np.zeros(100, np.int64), np.arange(100), 2).tolist() == [0, 99]


@given(values)
def test_a_stepped_line_is_the_same_without_what_does_not_change(numbers):
    data = np.array(numbers)
    kept = changes(data)
    assert {0, len(data) - 1} <= set(kept.tolist())
    filled = data[kept[np.searchsorted(kept, np.arange(len(data)), side="right") - 1]]
    assert (filled == data).all()


def test_changes_of_nothing():
    assert changes(np.zeros(0)).tolist() == []
