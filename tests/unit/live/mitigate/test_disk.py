import shutil
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.errors import InputError, WblabError
from wblab.live.mitigate.disk import Counters, WatchedDisk, WatchedDisks, follow, read_counters, written_elsewhere
from wblab.live.mitigate.rule import LEAST, MOST, Learned

MB = 1_000_000
PERIOD_S = 2.0


def after(disk, *, written=0, read=0, busy_s=0.0, depth=10.0, size=1 << 20, cached=False):
    """Return the disk after a period with these writes."""
    before = disk.counters
    counters = Counters(
        before.read_bytes + read,
        before.written_bytes + written,
        before.busy_ms + int(busy_s * 1000),
        before.writes_ms + int(busy_s * depth * 1000),
        before.writes + written // size,
    )
    return follow(disk, counters, PERIOD_S, cached=cached)


FRESH = WatchedDisk(Counters(5, 7, 11, 13))


def test_the_rate_is_unknown_until_saturation():
    disk = after(FRESH, written=MB, busy_s=0.5)
    assert disk.bandwidth == 0
    assert after(disk, written=100 * MB, busy_s=2.0).bandwidth == 50 * MB


def test_the_rate_is_bytes_over_busy_time():
    assert after(FRESH, written=90 * MB, busy_s=1.8).bandwidth == 50 * MB


def test_reads_do_not_count_for_the_write_rate():
    assert after(FRESH, written=MB, read=100 * MB, busy_s=2.0).bandwidth == 0


def test_a_program_that_waits_for_each_small_write_does_not_saturate():
    assert after(FRESH, written=MB, busy_s=2.0, depth=1.0).bandwidth == 0


def flood(disk, rate, periods, **what):
    for _ in range(periods):
        disk = after(disk, written=int(rate * PERIOD_S), busy_s=PERIOD_S, **what)
    return disk


def test_a_burst_absorbed_by_a_cache_is_discarded():
    burst = flood(FRESH, 500 * MB, 3)
    assert burst.bandwidth == 500 * MB
    assert flood(burst, 50 * MB, 10).bandwidth > 300 * MB
    assert flood(burst, 50 * MB, 150).bandwidth == 50 * MB


def test_the_filling_of_a_cache_is_discarded_at_once():
    disk = after(FRESH, written=1000 * MB, busy_s=2.0)
    assert (disk.bandwidth, disk.provisional) == (500 * MB, True)
    disk = flood(disk, 50 * MB, 2)
    assert (disk.bandwidth, disk.provisional) == (50 * MB, False)


def test_bursts_after_flushes_of_a_large_cache_are_averaged():
    """A disk of 1 MB/s with a cache of 8 MB, flushed every 16 s, with more writes in between than it can hold."""
    disk, plain = (replace(FRESH, bandwidth=1 * MB) for _ in range(2))
    for _ in range(8):
        for written in (5 * MB, 5 * MB, 5 * MB, 1 * MB, 0, 0, 0, 0):
            disk = after(disk, written=written, busy_s=PERIOD_S, cached=True)
            plain = after(plain, written=written, busy_s=PERIOD_S)
    assert 0.9 * MB < disk.bandwidth < 1.1 * MB
    assert plain.bandwidth > 2 * MB


def test_the_rate_rises_faster_than_it_falls():
    disk = replace(FRESH, bandwidth=10 * MB)
    assert 12 * MB < flood(disk, 400 * MB, 1).bandwidth < 14 * MB
    assert flood(disk, 400 * MB, 15).bandwidth == 400 * MB


def test_a_single_outlier_does_not_count():
    disk = flood(replace(FRESH, bandwidth=50 * MB), 50 * MB, 3)
    assert flood(disk, 500 * MB, 1).bandwidth == 50 * MB
    assert flood(disk, 1 * MB, 1).bandwidth == 50 * MB


@pytest.mark.parametrize(
    "what",
    [
        {"rate": MB // 10, "size": 4096, "depth": 64.0},  # many threads, each with small writes that wait for the disk
        {"rate": MB, "size": 512, "depth": 1000.0},
        {"rate": 25 * MB, "size": 32 << 10, "depth": 32.0},  # larger ones, all over the disk
        {"rate": MB, "depth": 1.0},  # one program that waits for each
    ],
)
def test_small_writes_of_one_user_do_not_lower_the_rate_for_others(what):
    disk = flood(flood(FRESH, 100 * MB, 5), periods=500, **what)
    assert disk.bandwidth == 100 * MB
    assert flood(FRESH, periods=5, **what).bandwidth == 0


def test_large_writes_mixed_with_reads_do_not_lower_the_rate():
    disk = flood(FRESH, 100 * MB, 5)
    for _ in range(500):
        disk = after(disk, written=10 * MB, read=9 * MB, busy_s=2.0)
    assert disk.bandwidth == 100 * MB


def test_large_writes_change_the_rate_by_a_limited_factor():
    disk = flood(FRESH, 100 * MB, 5)
    lowered = flood(disk, 10 * MB, 30)  # a minute
    assert lowered.bandwidth >= 50 * MB
    assert flood(lowered, 100 * MB, 8).bandwidth == 100 * MB


def test_the_rate_stays_plausible():
    assert flood(FRESH, 10**15, 1).bandwidth == MOST
    assert after(FRESH, written=100, busy_s=2.0).bandwidth == LEAST


def test_idle_time_keeps_the_rate_and_three_faster_periods_raise_it():
    disk = replace(FRESH, bandwidth=10 * MB)
    assert after(disk).bandwidth == 10 * MB
    for _ in range(2):  # a cache may have taken this
        disk = after(disk, written=40 * MB, busy_s=0.5)
    assert disk.bandwidth == 10 * MB
    assert 10 * MB < after(disk, written=40 * MB, busy_s=0.5).bandwidth <= 20 * MB


@given(st.lists(st.tuples(st.integers(0, 10**10), st.integers(0, 10**10), st.floats(0, 2), st.floats(0, 100))))
def test_the_rate_never_exceeds_the_observed_one(periods):
    disk, most = FRESH, 0.0
    for written, read, busy_s, depth in periods:
        disk = after(disk, written=written, read=read, busy_s=busy_s, depth=depth)
        counted_s = int(busy_s * 1000) / 1000
        most = max(most, written / counted_s if counted_s > 1.6 else 0, written / PERIOD_S)
        assert 0 <= disk.bandwidth <= max(most, LEAST) * (1 + 1e-9)
        assert 0 <= disk.busy <= 1


def test_the_duration_of_flushes_is_known_after_two():
    disk, seen = FRESH, []
    for flushes, taken_ms in ((1, 8000), (0, 0), (2, 4000), (1, 9000)):
        before = disk.counters
        counters = replace(before, flushes=before.flushes + flushes, flushes_ms=before.flushes_ms + taken_ms)
        disk = follow(disk, counters, PERIOD_S)
        seen.append(disk.flush_s)
    assert seen == [0, 0, 2, 8]


@pytest.fixture
def sys(tmp_path):
    """Return a function that writes the counters of a disk in a copy of /sys/block: MB written, all in floods."""

    def write(name, megabytes, model="stick"):
        (tmp_path / name / "device").mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "device/model").write_text(f"{model}\n")
        (tmp_path / name / "size").write_text("1000\n")
        ms = 200 * megabytes  # 5 MB/s
        fields = [0, 0, 0, 0, megabytes, 0, megabytes * MB // 512, 10 * ms, 0, ms, 10 * ms, 0, 0, 0, 0, 0, 0]
        (tmp_path / name / "stat").write_text(" ".join(map(str, fields)) + "\n")

    write("sda", 0, "disk")
    return write


def test_a_plugged_in_stick_is_recognised_by_its_model(sys, tmp_path):
    found = WatchedDisks(blocks=tmp_path, learned={"stick 1000": Learned(bandwidth=5 * MB, cached=True)})
    assert (found.bandwidths, found.cached) == ({}, set())
    sys("sdc", 0)
    found.follow(PERIOD_S)
    assert (found.bandwidths, found.cached) == ({"sdc": 5 * MB}, {"sdc"})
    shutil.rmtree(tmp_path / "sdc")
    found.follow(PERIOD_S)
    assert (found.bandwidths, found.cached) == ({}, set())


def test_a_learned_rate_survives_removal_of_the_stick(sys, tmp_path):
    found = WatchedDisks(blocks=tmp_path)
    for megabytes in (0, 10, 20, 30):
        sys("sdb", megabytes)
        found.follow(PERIOD_S)
    assert found.name == "sdb"
    shutil.rmtree(tmp_path / "sdb")
    found.follow(PERIOD_S)
    assert (list(found.known), found.name) == (["sda"], "sda")
    assert found.learned == {"stick 1000": Learned(bandwidth=pytest.approx(5 * MB, rel=0.01))}


def test_a_disk_that_could_take_larger_requests_than_it_gets_is_measured(sys, tmp_path):
    """SATA's may be 4 MiB, which they only are if their pages lie together in memory."""
    (tmp_path / "sda/queue").mkdir()
    (tmp_path / "sda/queue/max_sectors_kb").write_text("4096\n")
    found = WatchedDisks(blocks=tmp_path)
    fields = [0, 0, 0, 0, 40, 0, 10 * MB // 512, 20_000, 0, 2_000, 20_000, 0, 0, 0, 0, 0, 0]  # 250 KB each
    (tmp_path / "sda/stat").write_text(" ".join(map(str, fields)))
    found.follow(PERIOD_S)
    assert found.bandwidths == {"sda": pytest.approx(5 * MB, rel=0.01)}


def test_a_provisional_rate_is_not_stored(sys, tmp_path):
    found = WatchedDisks(blocks=tmp_path)
    for megabytes in (0, 10):
        sys("sdb", megabytes)
        found.follow(PERIOD_S)
    assert found.bandwidths.keys() == {"sdb"}
    assert found.learned == {}


def test_a_stacked_disk_is_watched_on_request(sys, tmp_path):
    for megabytes in (0, 10, 20, 30):
        sys("loop7", megabytes)
        shutil.rmtree(tmp_path / "loop7/device")
        if not megabytes:
            found = WatchedDisks("loop7", blocks=tmp_path)
        found.follow(PERIOD_S)
    assert (found.name, found.bandwidth) == ("loop7", pytest.approx(5 * MB, rel=0.01))
    assert found.learned == {}  # the next time it is another file
    with pytest.raises(InputError, match=r"no 'loop77' \(did you mean 'loop7'\?\).*made of others \(loop0, dm-0\)"):
        WatchedDisks("loop77", blocks=tmp_path)


def test_writes_to_other_disks_are_noticed(sys, tmp_path):
    assert not written_elsewhere("sda", tmp_path)
    sys("sdb", 0)  # a stick without any writes
    assert not written_elsewhere("sda", tmp_path)
    sys("sdb", 1)
    assert written_elsewhere("sda", tmp_path)
    assert not written_elsewhere("sdb", tmp_path)


def test_a_removed_single_disk_keeps_its_name(sys, tmp_path):
    found = WatchedDisks("sda", blocks=tmp_path)
    shutil.rmtree(tmp_path / "sda")
    found.follow(PERIOD_S)
    assert (found.name, found.bandwidth) == ("sda", 0)


def test_the_disks_of_this_machine():
    try:
        names = list(WatchedDisks().known)
    except WblabError as error:
        pytest.skip(str(error))
    assert names
    assert not [name for name in names if name.startswith(("loop", "ram", "zram", "dm-", "md"))]
    assert read_counters(names).keys() == set(names)
    assert WatchedDisks(names[0]).name == names[0]
