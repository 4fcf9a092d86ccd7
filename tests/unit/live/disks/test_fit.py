"""The fit of simulated disks with a known model."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.computed import Computed

from wblab.lab.progress import silent
from wblab.live.disks.device import Model
from wblab.live.disks.fit import fit
from wblab.live.disks.plan import Bounds, measure

KIB, MIB, MB = 1 << 10, 1 << 20, 10**6
BOUNDS = Bounds(most_bytes=64 * MIB, most_s=60, file_bytes=8 * MIB)
FEW = Bounds(most_bytes=24 * MIB, most_s=60, file_bytes=4 * MIB)
QUICK = settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate], derandomize=True)


def fitted(model, bounds=BOUNDS, **computed):
    return fit(measure(Computed(model, **computed), bounds, silent))


@QUICK
@given(
    write=st.floats(5, 500),
    read=st.floats(5, 500),
    latency_us=st.floats(20, 2000),
    seek_us=st.sampled_from([0, 500, 9000]),
)
def test_rates_latency_and_seeks_are_found(write, read, latency_us, seek_us):
    model = Model(write_bps=write * MB, read_bps=read * MB, latency_s=latency_us / 1e6, seek_s=seek_us / 1e6)
    found = fitted(model, FEW)
    assert found.explained == 1
    assert found.model.write_bps == pytest.approx(model.write_bps, rel=0.01)
    assert found.model.read_bps == pytest.approx(model.read_bps, rel=0.01)
    assert found.model.latency_s == pytest.approx(model.latency_s, rel=0.01, abs=1e-6)
    assert found.model.seek_s == pytest.approx(model.seek_s, rel=0.01)
    assert (found.model.cache_bytes, found.model.stall_every) == (0, 0)


def test_a_disk_that_is_sent_no_flushes_is_explained():
    """A stick says that it has no volatile cache."""
    model = Model(write_bps=10 * MB, read_bps=100 * MB, latency_s=545e-6)
    found = fitted(model, FEW, has_flushes=False)
    assert found.explained == 1
    assert found.model.latency_s == pytest.approx(model.latency_s, rel=0.01)
    assert found.model.cache_bytes == 0


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 24])
def test_the_depth_is_found(depth):
    model = Model(write_bps=500 * MB, read_bps=2000 * MB, latency_s=500e-6, depth=depth)
    assert fitted(model, FEW).model.depth == depth


def test_a_depth_without_effect_is_not_reported():
    found = fitted(Model(write_bps=MB, read_bps=MB, latency_s=10e-6, depth=8), FEW)
    assert found.model.depth == 1
    assert "unknown" in found.unknown["depth"]


@QUICK
@given(drain=st.floats(2, 30), faster=st.floats(3, 20), cache=st.floats(2, 24), seek_us=st.sampled_from([0, 5000]))
def test_a_cache_that_becomes_full_is_found(drain, faster, cache, seek_us):
    model = Model(
        write_bps=drain * faster * MB,
        read_bps=50 * MB,
        latency_s=50e-6,
        seek_s=seek_us / 1e6,
        cache_bytes=cache * MIB,
        drain_bps=drain * MB,
    )
    found = fitted(model)
    assert found.model.drain_bps == pytest.approx(model.drain_bps, rel=0.05)
    assert found.model.cache_bytes == pytest.approx(model.cache_bytes, rel=0.1)
    assert found.model.write_bps == pytest.approx(model.write_bps, rel=0.05)
    assert "cache_bytes" not in found.unknown


def test_a_cache_that_never_fills_has_a_minimum_size():
    model = Model(write_bps=400 * MB, read_bps=400 * MB, cache_bytes=512 * MIB, drain_bps=100 * MB)
    found = fitted(model)
    assert 20 * MIB < found.model.cache_bytes < 64 * MIB
    assert found.model.drain_bps == pytest.approx(100 * MB, rel=0.02)
    assert "at least" in found.unknown["cache_bytes"]


@pytest.mark.parametrize("is_even", [True, False])
def test_stalls_are_found(is_even):
    model = Model(
        write_bps=20 * MB, read_bps=20 * MB, latency_s=1e-4, stall_every=2 * MIB, stall_s=0.4, is_even=is_even
    )
    found = fitted(model).model
    assert found.is_even == is_even
    assert found.stall_s == pytest.approx(0.4, rel=0.02)
    assert found.stall_every == pytest.approx(2 * MIB, rel=0.05 if is_even else 0.5)


def test_two_stalls_are_too_few_for_a_rate():
    model = Model(write_bps=20 * MB, read_bps=20 * MB, latency_s=1e-4, stall_every=30 * MIB, stall_s=0.4)
    found = fitted(model)
    assert found.model.stall_every == 0
    assert "too few" in found.unknown["stall_every"]


@QUICK
@given(
    block=st.sampled_from([512 * KIB, 2 * MIB, 4 * MIB, 8 * MIB]),
    open_blocks=st.integers(1, 15),
    write=st.floats(5, 30),
    begin=st.integers(0, 127),
    is_cut=st.booleans(),
)
def test_erase_blocks_are_found_wherever_the_file_begins(block, open_blocks, write, begin, is_cut):
    """A file is written for a fifth of the time, so a slow disk has room for few places."""
    model = Model(write_bps=write * MB, read_bps=20 * MB, latency_s=5e-4, erase_block=block, open_blocks=open_blocks)
    bounds = Bounds(most_bytes=512 * MIB, most_s=60 if is_cut else 600, file_bytes=128 * MIB)
    device = Computed(model, begin=begin * 64 * KIB)
    found = fit(measure(device, bounds, silent))
    assert device.now_ns() < (62e9 if is_cut else 602e9)
    assert found.model.stall_every == 0 or not found.model.erase_block
    if found.model.erase_block:
        assert found.model.open_blocks == open_blocks or "or up to" in found.unknown["open_blocks"]
        assert found.model.erase_block == pytest.approx(block, rel=0.03)
        assert found.explained > 0.9
    else:
        assert is_cut
        assert found.unknown["erase_block"]


def test_writes_in_turns_are_not_mistaken_for_seeks_stalls_or_credits():
    for model in (
        Model(write_bps=10 * MB, read_bps=20 * MB, latency_s=5e-4, seek_s=9e-3),
        Model(write_bps=10 * MB, read_bps=20 * MB, latency_s=5e-4, stall_every=MIB, stall_s=0.4, is_even=False),
        Model(write_bps=80 * MB, read_bps=80 * MB, burst_bytes=52 * MIB, sustained_bps=2 * MB),  # used up by turns
    ):
        found = fitted(model, Bounds(most_bytes=128 * MIB, most_s=60, file_bytes=32 * MIB))
        assert (found.model.erase_block, found.model.open_blocks) == (0, 1)
        assert "none seen: " in found.unknown["erase_block"] or model.burst_bytes


def test_erase_blocks_and_stalls_are_told_apart():
    model = Model(
        write_bps=10 * MB,
        read_bps=20 * MB,
        latency_s=5e-4,
        erase_block=4 * MIB,
        open_blocks=2,
        stall_every=3 * MIB,
        stall_s=0.9,
        is_even=False,
    )
    found = fitted(model, Bounds(most_bytes=512 * MIB, most_s=200, file_bytes=128 * MIB), begin=MIB).model
    assert (found.erase_block, found.open_blocks) == (pytest.approx(4 * MIB, rel=0.03), 2)
    assert (found.stall_every, found.stall_s) == (pytest.approx(3 * MIB, rel=0.3), pytest.approx(0.9, rel=0.05))


@QUICK
@given(
    sustained=st.floats(2, 30),
    faster=st.floats(3, 20),
    credits_mib=st.floats(60, 200),
    seek_us=st.sampled_from([0, 5000]),
)
def test_credits_that_are_used_up_are_found(sustained, faster, credits_mib, seek_us):
    model = Model(
        write_bps=sustained * faster * MB,
        read_bps=50 * MB,
        latency_s=50e-6,
        seek_s=seek_us / 1e6,
        burst_bytes=credits_mib * MIB,
        sustained_bps=min(sustained, 30) * MB,
    )
    found = fitted(model, Bounds(most_bytes=512 * MIB, most_s=600, file_bytes=16 * MIB))
    assert found.model.sustained_bps == pytest.approx(model.sustained_bps, rel=0.02)
    assert found.model.burst_bytes == pytest.approx(model.burst_bytes, rel=0.03)
    assert found.model.cache_bytes == 0
    assert "burst_bytes" not in found.unknown


def test_credits_that_are_used_up_too_early_are_said():
    model = Model(write_bps=100 * MB, read_bps=100 * MB, burst_bytes=8 * MIB, sustained_bps=2 * MB)
    found = fitted(model)
    assert "at first 100 MB/s were written, then 2: credits, perhaps" in found.unknown["burst_bytes"]


def test_a_cache_that_no_flush_empties_is_said():
    class Slower(Computed):
        """Writes become slower after 40 MiB, reads and flushes do not: flash that was written one bit to a cell."""

        def write(self, offset, size):
            super().write(offset, size)
            self._written += size
            self._device.wait(0.01 if self._written > 40 * MIB else 0)

    model = Model(write_bps=50 * MB, read_bps=80 * MB, latency_s=200e-6)
    found = fit(measure(Slower(model), Bounds(most_bytes=96 * MIB, most_s=60, file_bytes=8 * MIB), silent))
    assert (found.model.burst_bytes, found.model.cache_bytes) == (0, 0)
    assert "became slower for good" in found.unknown["cache_bytes"]


@pytest.mark.parametrize(("latency_us", "depth"), [(1000, 64), (1000, 16), (100, 64)])
def test_a_limit_of_requests_is_found(latency_us, depth):
    model = Model(write_bps=125 * MB, read_bps=125 * MB, latency_s=latency_us / 1e6, depth=depth, iops=3000)
    found = fitted(model, FEW)
    assert found.model.iops == pytest.approx(3000, rel=0.01)
    assert found.model.write_bps == pytest.approx(125 * MB, rel=0.2)
    assert found.model.latency_s == pytest.approx(latency_us / 1e6, rel=0.01) or "hidden" in found.unknown["latency"]


def test_a_limit_that_hides_all_else_is_said():
    model = Model(write_bps=125 * MB, read_bps=125 * MB, latency_s=1e-4, depth=64, iops=200)
    found = fitted(model, FEW)
    assert found.model.iops == float("inf")
    assert "a limit of 200 would look like this latency" in found.unknown["iops"]


@pytest.mark.parametrize("seed", range(4))
def test_variable_times_are_explained_within_their_variation(seed):
    model = Model(write_bps=50 * MB, read_bps=80 * MB, latency_s=200e-6, seek_s=5e-3)
    found = fitted(model, seed=seed, noise=0.4)
    assert found.model.write_bps == pytest.approx(50 * MB, rel=0.35)
    assert found.model.seek_s == pytest.approx(6e-3, rel=0.25)
    assert (found.model.cache_bytes, found.model.erase_block, found.model.burst_bytes) == (0, 0, 0)
    assert found.model.iops == float("inf")
    assert 0.7 < found.explained <= 1


def test_a_disk_unlike_the_model_is_not_explained():
    class Sleepy(Computed):
        def write(self, offset, size):
            super().write(offset, size)
            self._device.wait(self._random.choice([0, 0.003, 0.02, 0.1]))

    model = Model(write_bps=50 * MB, read_bps=80 * MB, latency_s=200e-6)
    assert fit(measure(Sleepy(model), BOUNDS, silent)).explained < 0.8


def test_a_measurement_respects_its_limits_of_time_and_bytes():
    model = Model(write_bps=MB, read_bps=MB, latency_s=1e-4)
    device = Computed(model)
    measured = measure(device, Bounds(most_bytes=64 * MIB, most_s=10, file_bytes=8 * MIB), silent)
    assert device.now_ns() < 12e9
    few = measure(Computed(model), Bounds(most_bytes=16 * MIB, most_s=600, file_bytes=4 * MIB), silent)
    for found, most in ((measured, 64 * MIB), (few, 16 * MIB)):
        assert sum(step.size for step in found.steps if step.action == "write") <= most
