"""The number and sizes of holes in Chopper's layouts."""

import pytest

from wblab.core.freespace import holes

GIB = 1 << 18  # in blocks of 4 KiB


@pytest.mark.parametrize(("layout", "count"), [(1, 78_802), (2, 19_162), (3, 2_758), (4, 106), (5, 0)])
def test_the_number_of_holes_in_a_gibibyte(layout, count):
    assert len(holes(layout, GIB)) == count


@pytest.mark.parametrize("layout", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("blocks", [0, 1, 1000, GIB, 20 * GIB])
def test_holes_and_fillers_fit_the_disk(layout, blocks):
    found = holes(layout, blocks)
    assert sum(found) + len(found) <= blocks
    assert all(size & (size - 1) == 0 for size in found)


def test_large_disks_have_large_holes_in_the_last_layout():
    assert len(holes(5, 8 * GIB)) == 0
    assert min(holes(5, 64 * GIB)) >= 1 << 15


def test_small_holes_have_the_most_bytes_in_the_first_layout():
    found = holes(1, 16 * GIB)
    share = {size: size * found.count(size) / sum(found) for size in (1, 2, 4)}
    # F(1) - F(0), F(2) - F(1), F(3) - F(2) of the lognormal distribution with mu = ln 2, sigma = 1. Holes for which the
    # disk is too small are missing: the sum of all is less.
    assert share[2] / share[1] == pytest.approx(0.2559 / 0.2441, rel=1e-3)
    assert share[4] / share[1] == pytest.approx(0.1574 / 0.2441, rel=1e-3)
    assert 0.2441 < share[1] < 0.2441 / 0.95


def test_the_order_of_holes_is_fixed():
    assert holes(2, GIB) == holes(2, GIB)
    assert holes(2, GIB) != sorted(holes(2, GIB))
