"""The simulated device compared with the formulas of docs/reference/disk-model.md, as in tests/uml/test_model.py."""

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
