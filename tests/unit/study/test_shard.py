import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.errors import InputError
from wblab.study.plan import Shard, shard_of


@given(st.integers(0, 200), st.integers(1, 60))
def test_each_item_is_in_one_part(count, of):
    items = list(range(count))
    parts = [Shard(number, of).part(items, str) for number in range(1, of + 1)]
    assert sorted(item for part in parts for item in part) == items
    assert all(part == sorted(part) for part in parts)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_part_has_some_of_all_kinds():
    items = [(seed, cell) for seed in range(50) for cell in "abcd"]
    part = Shard(1, 4).part(items, str)
    assert {cell for _, cell in part} == set("abcd")


def test_parts_are_read():
    assert shard_of("3/64") == Shard(3, 64)
    assert str(Shard(3, 64)) == "3/64"
    for text in ("", "3", "0/4", "5/4", "3/64/1", "-1/4", "1/1000000", "a/b", "1/٣", " 1/2", "1/2\n"):
        with pytest.raises(InputError, match="no part"):
            shard_of(text)
