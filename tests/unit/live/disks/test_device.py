"""The simulated device compared with the formulas of docs/reference/disk-model.md, as in tests/uml/test_model.py."""

from dataclasses import replace

import pytest

from wblab.live.disks.device import Device, Model

MIB, BLOCK = 1 << 20, 1 << 16
CACHED = Model(write_bps=16 * MIB, read_bps=16 * MIB, cache_bytes=MIB, drain_bps=MIB)
BUS, MEDIUM = BLOCK / (16 * MIB), BLOCK / MIB


def written(device, blocks):
    return sum(device.write(place * BLOCK, BLOCK) for place in range(blocks))


@pytest.mark.parametrize(("depth", "expected_s"), [(1, 8 * (0.1 + BLOCK / MIB)), (4, 0.1 + 8 * BLOCK / MIB)])
def test_parallel_reads_share_the_bus(depth, expected_s):
    device = Device(Model(write_bps=MIB, read_bps=MIB, latency_s=0.1, depth=depth))
    assert device.read(range(0, 16 * BLOCK, 2 * BLOCK), BLOCK) == pytest.approx(expected_s)


def test_a_cache_becomes_full_and_a_flush_waits_for_the_medium():
    device = Device(CACHED)
    assert (written(device, 8), device.flush()) == pytest.approx((8 * BUS, BUS + 8 * MEDIUM - 8 * BUS))
    assert (written(device, 32), device.flush(), device.flush()) == pytest.approx((BUS + 32 * MEDIUM - 1, 1, 0))


def test_seeks_cost_time_and_a_stall_stops_the_device():
    device = Device(Model(write_bps=MIB, read_bps=MIB, seek_s=0.02))
    assert device.write(BLOCK, BLOCK) == pytest.approx(MEDIUM + 0.02)
    assert device.write(2 * BLOCK, BLOCK, stall_s=0.3) == pytest.approx(MEDIUM + 0.3)


ERASED = Model(write_bps=MIB, read_bps=MIB, erase_block=4 * BLOCK, open_blocks=2)


@pytest.mark.parametrize(
    ("places", "copied"),
    [
        (range(16), 0),
        ([0, 4, 1, 5, 2, 6, 3, 7], 0),
        ([0, 4, 8, 1, 5, 9], 4 * 3),
        ([0, 1, 4, 8, 5], 2),
        ([0, 4, 0, 8, 1], 3),
        ([3.5, 11.5], 2 * 3.5),  # over the border of two blocks
    ],
)
def test_a_write_to_another_erase_block_copies_the_rest_of_one(places, copied):
    device = Device(ERASED)
    plain = len(places) * MEDIUM
    assert sum(device.write(int(place * BLOCK), BLOCK) for place in places) == pytest.approx(plain + copied * MEDIUM)
    assert device.read([0], BLOCK) == pytest.approx(MEDIUM)


def test_a_cache_hides_the_copies():
    device = Device(replace(ERASED, write_bps=16 * MIB, cache_bytes=MIB, drain_bps=MIB))
    assert sum(device.write(place * BLOCK, BLOCK) for place in (0, 4, 8)) == pytest.approx(3 * BUS)
    assert device.flush() == pytest.approx(BUS + 6 * MEDIUM - 3 * BUS)


def test_credits_are_used_up_and_come_back():
    device = Device(Model(write_bps=16 * MIB, read_bps=16 * MIB, burst_bytes=MIB / 2, sustained_bps=MIB))
    assert written(device, 24) == pytest.approx(24 * MEDIUM - 0.5)
    assert device.read(range(0, 8 * BLOCK, BLOCK), BLOCK) == pytest.approx(8 * MEDIUM)
    device.wait(0.25)
    assert written(device, 8) == pytest.approx(8 * MEDIUM - 0.25)


def test_a_limit_of_requests_counts_large_ones_as_several():
    device = Device(Model(write_bps=64 * MIB, read_bps=64 * MIB, depth=8, iops=10))
    assert written(device, 8) == pytest.approx(0.8)
    assert device.read(range(0, 16 * BLOCK, 2 * BLOCK), BLOCK) == pytest.approx(0.8)
    assert device.write(0, 10 * BLOCK) == pytest.approx(0.3)
