"""Several disks: each is a separate device with its own loads, and the slow one stalls writers to the fast one."""

import json

import pytest

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.names import unplug_s
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import Run
from wblab.host.recorded import RunFailedError

S = 1_000_000_000
SHORT = ("load.l1.size=16MiB", "time_limit=120s")


@pytest.fixture(scope="module")
def run(shared_lab):
    return shared_lab.run("two-disks")


def longest_s(run: Run, name: str) -> float:
    return float(run.load(name).pauses_ns.max()) / S


def test_writers_to_the_fast_disk_stall_for_seconds(run):
    assert min(longest_s(run, name) for name in ("w-fast", "mw-fast")) > 2
    assert longest_s(run, "c1") < 0.05


def test_without_the_offender_on_the_slow_disk_no_load_stalls(shared_lab):
    alone = shared_lab.run("two-disks", "load.l1.disk=fast")
    assert max(longest_s(alone, name) for name in ("w-fast", "mw-fast", "w-slow", "mw-slow")) < 1


def test_a_run_on_two_disks_is_reproducible(run, shared_lab):
    assert first_differences(run, shared_lab.run("two-disks")) == []


def test_each_disk_writes_what_its_loads_wrote_at_its_own_rate(run):
    cache = page_cache(run)
    assert list(cache.disks.values()) == ["slow", "fast"]
    assert set(cache.throttling.disk) == set(cache.written.disk) == {"slow", "fast"}
    tasks = {disk: set(cache.throttling.task[cache.throttling.disk == disk]) for disk in ("slow", "fast")}
    assert tasks["fast"] <= {"w-fast", "mw-fast"}
    assert not tasks["slow"] & {"w-fast", "mw-fast"}
    start_ns = run.offender_starts_ns()["l1"] + S
    slow = cache.written.where((cache.written.disk == "slow") & (cache.written.ts_ns > start_ns))
    seconds = int(slow.ts_ns[-1] - slow.ts_ns[0]) / S
    assert slow.size.sum() / seconds == pytest.approx(1 << 20, rel=0.05)


def test_writeback_after_the_end_takes_as_long_as_the_disk_needs(run):
    state = page_cache(run).dirty_state
    last = int(state.ts_ns.searchsorted(run.load("l1").boundaries_ns[-1])) - 1
    left_s = int(state.dirty[last] + state.writeback[last]) / (1 << 20)
    assert unplug_s(run)["l1"] == pytest.approx(left_s, rel=0.3)


@pytest.mark.parametrize("model", ["device", "throttle"])
def test_a_device_model_and_a_throttle_can_be_combined(lab, model):
    settings = (f"disk.slow.model={model}", "disk.slow.latency=0s", "disk.fast.model=throttle", "disk.fast.latency=0s")
    mixed = lab.run("two-disks", *SHORT, *settings)
    wrote_s = int(mixed.load("l1").boundaries_ns[-1] - mixed.offender_starts_ns()["l1"]) / S
    assert 16 * 0.9 < wrote_s + unplug_s(mixed)["l1"] < 16 * 1.3
    assert lab.left_behind() == []


def test_with_the_real_clock_fast_disk_writers_do_not_wait_for_a_throttled_disk(lab):
    settings = ("clock.mode=real", "disk.slow.model=throttle", "disk.slow.latency=0s", "load.l1.size=2MiB")
    done = lab.run("two-disks", *settings, "load.l1.wait=100ms", "trace.events=[]", "trace.lead=0s")
    assert unplug_s(done) == {}
    assert json.loads((done.path / "disks.json").read_text())["fast"]["written_ns"] > 0


def test_control_group_limits_apply_to_the_named_disk(lab):
    limit = ("cgroup.g.loads=['l1']", "cgroup.g.files.memory.max=max", "cgroup.g.files.io.max={disk.slow} wbps=524288")
    slowed = lab.run("two-disks", *SHORT, *limit)
    wrote_s = int(slowed.load("l1").boundaries_ns[-1] - slowed.offender_starts_ns()["l1"]) / S
    assert wrote_s + unplug_s(slowed)["l1"] > 28


def test_xfs_and_ext4_can_be_used_together(lab):
    both = lab.run("two-disks", *SHORT, "disk.fast.filesystem=xfs", "disk.fast.size=320MiB")
    assert both.load("l1").end == "finished"


OWN = "{strict_limit=1, max_ratio=1}"
LIMITS = {
    "none": ((), False),
    "from the start": ((f"disk.bdi={OWN}",), True),
    "by a phase": ((f"phase.low={{at='1s', disk={{disk={{bdi={OWN}}}}}}}",), True),
}


@pytest.mark.parametrize("when", LIMITS)
def test_a_limit_for_btrfs_is_set_where_btrfs_counts_its_dirty_pages(lab, when):
    settings, is_slowed = LIMITS[when]
    loads = "load={l1={kind='load', file='l1', wait='3s', size='8MiB', block='64KiB'}}"
    made = lab.run("base-device", "disk.filesystem=btrfs", "disk.size=160MiB", loads, *settings)
    boundaries_ns = made.load("l1").boundaries_ns
    assert bool(boundaries_ns[-1] - boundaries_ns[1] > 4 * S) is is_slowed  # 8 MiB take 8 s on this disk


RAW = "{x={kind='raw', size='8MiB', idle='10ms'}, l1={kind='rawload', wait='3s', size='2MiB', block='64KiB'}}"
# Disks that have the same bytes either way; on sparse ext disks, mke2fs defers some writes.
SAME = {
    "vfat": ("disk.filesystem=vfat", "load.l1.size=8MiB"),
    "none": ("disk.filesystem=none", f"load={RAW}", "trace.events=['block:block_rq_complete']"),
}


@pytest.mark.parametrize("settings", SAME.values(), ids=SAME)
def test_a_guest_reads_holes_as_zeros(shared_lab, settings):
    whole, sparse = (shared_lab.run("base-device", *settings, f"disk.resident={size}") for size in ("0", "100MiB"))
    assert first_differences(whole, sparse) == []


def test_a_run_on_64_gib_is_reproducible(shared_lab):
    settings = ("disk.size=64GiB", "disk.resident=128MiB", "load.l1.size=8MiB")
    assert first_differences(*(shared_lab.run("base-device", *settings) for _ in range(2))) == []


def test_a_disk_over_its_memory_limit_ends_the_run(lab):
    settings = ("disk.size=1GiB", "disk.resident=24MiB", "load.l1.size=60MiB", "disk.write_bps=40MiB/s")
    with pytest.raises(RunFailedError, match=r"a disk took more than 24 MiB of memory: raise disk\.resident"):
        lab.run("base-device", *settings)
    assert lab.left_behind() == []
