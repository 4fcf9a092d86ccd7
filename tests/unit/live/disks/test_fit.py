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


@pytest.mark.parametrize("seed", range(4))
def test_variable_times_are_explained_within_their_variation(seed):
    model = Model(write_bps=50 * MB, read_bps=80 * MB, latency_s=200e-6, seek_s=5e-3)
    found = fitted(model, seed=seed, noise=0.4)
    assert found.model.write_bps == pytest.approx(50 * MB, rel=0.35)
    assert found.model.seek_s == pytest.approx(6e-3, rel=0.25)
    assert found.model.cache_bytes == 0
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
    for found, file_bytes in ((measured, 4 * MIB), (few, 4 * MIB)):
        assert sum(step.size for step in found.steps if step.action == "write") <= 64 * MIB - file_bytes
    assert sum(step.size for step in few.steps if step.action == "write") <= 12 * MIB
