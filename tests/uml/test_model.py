"""The model of a device compared with formulas, for single requests without a filesystem or a page cache."""

import json

import pytest
from support.quickruns import SECONDS

from wblab.analysis.runs.digest import digest
from wblab.host.recorded import RunFailedError
from wblab.lab.formats import EXPERIMENT

GUEST = """
import json, mmap, os, time
from threading import Thread
from wblab.core import layout
from wblab.core.status import Message
from wblab.core.syscalls import power_off
from wblab.guest import first, mounts

first.mount_scratch()
mounts.mount_all()
status = os.open(layout.STATUS_DEVICE, os.O_WRONLY | os.O_NOCTTY)
disk = os.open(layout.DISK_DEVICE, os.O_RDWR | os.O_DIRECT)
KIB, BLOCK = 1024, 64 * 1024
block = mmap.mmap(-1, BLOCK)
block.write(bytes(range(256)) * 256)
flush = lambda: os.fsync(disk)

def write(place):
    os.pwritev(disk, [block], place * BLOCK)

def read(place):
    os.preadv(disk, [mmap.mmap(-1, BLOCK)], place * BLOCK)

def each(task, places):
    for place in places:
        task(place)

def together(task, places):
    threads = [Thread(target=task, args=(place,)) for place in places]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def timed(*call):
    begin = time.monotonic_ns()
    call[0](*call[1:])
    return (time.monotonic_ns() - begin) / 1e9

def end(*result):
    os.write(status, Message("failed", time.monotonic_ns(), {{"reason": json.dumps(result)}}).line())
    power_off()

{code}
"""
BLOCK, MIB = 1 << 16, 1 << 20
SCATTERED = [40, 3, 77, 20, 61, 9, 50, 30]
TICK_S = 0.002  # the cost of a test's system calls and threads in virtual time


@pytest.fixture
def measured(lab, guest_program):
    """Return a function that runs some code in a guest with a disk of 8 MiB, and returns its result."""

    def run(code, *disk, clock="virtual", seed=1):
        guest_program(GUEST.format(code=code))
        keys = ["size=8MiB", "filesystem=ext2", "latency=0", *disk]
        settings = [*(f"disk.{key}" for key in keys), f"clock.mode={clock}", f"seed={seed}", "load.l1.size=1MiB"]
        with pytest.raises(RunFailedError):  # it never says that an experiment went well
            lab.run("base-device", *settings, "load.l2.size=1MiB")
        staged = max(lab.results.iterdir())
        return json.loads(json.loads((staged / EXPERIMENT).read_text())["reason"])

    return run


def close(*expected_s):
    return pytest.approx(expected_s, abs=TICK_S)


def test_reads_have_their_own_rate(measured):
    code = "end(timed(each, write, range(8)), timed(each, read, range(8)))"
    assert measured(code, "latency=5ms") == close(8 * (0.005 + BLOCK / MIB), 8 * (0.005 + BLOCK / MIB))
    found = measured(code, "latency=5ms", "read_bps=4MiB/s")
    assert found == close(8 * (0.005 + BLOCK / MIB), 8 * (0.005 + BLOCK / (4 * MIB)))


@pytest.mark.parametrize(
    ("depth", "rate", "expected_s"),
    [
        (1, MIB, 8 * (0.1 + BLOCK / MIB)),
        (4, MIB, 0.1 + 8 * BLOCK / MIB),  # the bus is the bottleneck
        (
            4,
            64 * MIB,
            2 * 0.1 + 5 * BLOCK / (64 * MIB),
        ),  # the latency is: two rounds
        (8, 64 * MIB, 0.1 + 8 * BLOCK / (64 * MIB)),
    ],
)
def test_depth_requests_overlap_their_latency_and_share_the_bus(measured, depth, rate, expected_s):
    found = measured(
        "end(timed(together, write, range(0, 16, 2)))", "latency=100ms", f"depth={depth}", f"write_bps={rate}"
    )
    assert found == close(expected_s)


def test_depth_does_not_help_sequential_requests(measured):
    assert measured("end(timed(each, write, range(8)))", "latency=100ms", "depth=8") == close(8 * (0.1 + BLOCK / MIB))


def test_a_request_elsewhere_costs_a_seek(measured):
    calls = ("write, range(1, 9)", f"write, {SCATTERED}", f"read, {SCATTERED}")
    code = f"write(0); end({', '.join(f'timed(each, {call})' for call in calls)})"
    plain = 8 * BLOCK / MIB
    assert measured(code, "seek_time=20ms") == close(plain, plain + 8 * 0.02, plain + 8 * 0.02)


def test_a_device_stalls_after_so_many_bytes_written(measured):
    code = "end(timed(each, read, range(16)), timed(each, write, range(16)), timed(each, write, range(3)))"
    found = measured(code, "stall_every=256KiB", "stall_time=300ms")
    assert found == close(16 * BLOCK / MIB, 16 * BLOCK / MIB + 4 * 0.3, 3 * BLOCK / MIB)


def test_the_seed_decides_random_stalls(measured):
    code = "end(*(timed(write, place) for place in range(64)))"
    settings = ("stall_every=256KiB", "stall_time=1s", "stalls=random")
    first, again, other = (measured(code, *settings, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert [round(time_s) for time_s in first] != [round(time_s) for time_s in other]
    for found in (first, other):
        stalls = sum(time_s > 1 for time_s in found)
        assert 6 <= stalls <= 26  # 16 of 64 on average: p < 0.002 beyond
        assert sum(found) == pytest.approx(64 * BLOCK / MIB + stalls, abs=64 * TICK_S)


STALLS = ("stall_every=256KiB", "stall_time=1s")
CACHED = ("write_bps=16MiB/s", "cache_bytes=1MiB", "drain_bps=1MiB/s")


def test_writes_go_into_the_cache_until_it_is_full_and_a_flush_waits_for_the_medium(measured):
    bus, medium = BLOCK / (16 * MIB), BLOCK / MIB
    code = "end(timed(each, write, range(8)), timed(flush), timed(each, write, range(32)), timed(flush), timed(flush))"
    # The medium begins when the first block is in the cache; with a full one, a block enters when as much has left.
    expected = (8 * bus, bus + 8 * medium - 8 * bus, bus + 32 * medium - 1.0, 1.0, 0)
    assert measured(code, *CACHED) == close(*expected)


def test_the_cache_drains_by_itself_and_reads_do_not_wait(measured):
    bus = BLOCK / (16 * MIB)
    code = "each(write, range(8)); reads = timed(each, read, range(8)); time.sleep(2); end(reads, timed(flush))"
    assert measured(code, *CACHED) == close(8 * bus, 0)


def test_without_a_cache_a_flush_takes_the_latency(measured):
    assert measured("each(write, range(8)); end(timed(flush))", "latency=30ms") == close(0.03)


def test_the_cache_hides_stalls_and_seeks_until_the_flush(measured):
    bus, medium = BLOCK / (16 * MIB), BLOCK / MIB
    code = f"end(timed(each, write, {SCATTERED}), timed(flush))"
    found = measured(code, *CACHED, "stall_every=256KiB", "stall_time=300ms", "seek_time=20ms")
    assert found == close(8 * bus, bus + 8 * (medium + 0.02) + 2 * 0.3 - 8 * bus)


def test_a_stall_does_not_fill_an_empty_cache(measured):
    code = "end(timed(each, write, range(4)), timed(each, write, range(8)), timed(flush))"
    found = measured(code, "cache_bytes=256KiB", "drain_bps=1MiB/s", "write_bps=16MiB/s", *STALLS)
    bus, medium = BLOCK / (16 * MIB), BLOCK / MIB
    stalled = bus + 12 * medium + 3 * 1.0  # all of it
    full = stalled - 4 * medium  # when the last of the twelve has its place
    assert found == close(4 * bus, full - 4 * bus, stalled - full)


def test_seeks_overlap_and_a_stall_blocks_all_requests(measured):
    together = f"end(timed(together, write, {SCATTERED}))"
    plain = ("depth=8", "write_bps=64MiB/s", "seek_time=100ms")
    transfer = 8 * BLOCK / (64 * MIB)
    assert measured(together, *plain) == close(0.1 + transfer)
    assert measured(together, *plain, "stall_every=256KiB", "stall_time=300ms") == close(0.1 + transfer + 2 * 0.3)


def test_parallel_requests_fill_the_cache_like_sequential_ones(measured):
    bus, medium = BLOCK / (16 * MIB), BLOCK / MIB
    found = measured("end(timed(together, write, range(32)), timed(flush))", *CACHED, "depth=8", "latency=10ms")
    assert found == close(0.01 + bus + 32 * medium - 1.0, 1.0)


ERASED = ("erase_block=256KiB", "open_blocks=2")  # blocks of four writes


@pytest.mark.parametrize(
    ("places", "copied"),
    [
        (range(16), 0),  # one after the other, each written whole
        ([0, 4, 1, 5, 2, 6, 3, 7], 0),  # two in turns
        ([0, 4, 8, 1, 5, 9], 4 * 3),  # three in turns: from the third on each closes one that has a quarter
        ([0, 1, 4, 8, 5], 2),  # the one that was written longest ago closes, here half full
        ([0, 4, 0, 8, 1], 3),  # a block counts as written last when it is written again
    ],
)
def test_a_write_to_another_erase_block_copies_the_rest_of_one(measured, places, copied):
    code = f"end(timed(each, write, {places}), timed(each, read, {places}))"
    plain = len(places) * BLOCK / MIB
    assert measured(code, *ERASED) == close(plain + copied * BLOCK / MIB, plain)


def test_a_request_over_two_erase_blocks_is_in_both_and_a_cache_hides_the_copies(measured):
    halves = "half = lambda place: os.pwritev(disk, [block], place * BLOCK + BLOCK // 2)"
    code = f"{halves}; end(timed(half, 3), timed(half, 11))"  # the second closes two blocks of half a write each
    assert measured(code, *ERASED) == close(BLOCK / MIB, (1 + 2 * 3.5) * BLOCK / MIB)
    bus, medium = BLOCK / (16 * MIB), BLOCK / MIB
    found = measured("end(timed(each, write, [0, 4, 8]), timed(flush))", *CACHED, *ERASED)
    assert found == close(3 * bus, bus + (3 + 3) * medium - 3 * bus)


def test_credits_are_used_up_and_come_back(measured):
    volume = ("write_bps=16MiB/s", "burst_bytes=512KiB", "sustained_bps=1MiB/s")
    calls = ("timed(each, write, range(24))", *("timed(each, read, range(8))",) * 2)
    code = f"first, then = {calls[0]}, {calls[1]}; time.sleep(0.25); end(first, then, {calls[2]})"
    fast, slow = BLOCK / (16 * MIB), BLOCK / MIB
    first, then, last = measured(code, *volume)
    assert (first, then) == close(24 * slow - 0.5, 8 * slow)  # half a MiB was there, and the rest came in the time
    assert last == pytest.approx(8 * slow - 0.25, abs=2 * TICK_S + fast)


def test_a_limit_of_requests_counts_large_ones_as_several(measured):
    code = """
several = mmap.mmap(-1, 640 * KIB)
large = lambda place: os.pwritev(disk, [several], place * BLOCK)
end(timed(each, write, range(8)), timed(together, read, range(8)), timed(each, large, [0]))
"""
    settings = ("write_bps=64MiB/s", "depth=8", "iops=10", "driver=sata", "queue.max_sectors_kb=1024")
    assert measured(code, *settings) == close(0.8, 0.8, 0.3)


@pytest.mark.parametrize(
    ("code", "disk", "expected_s"),
    [
        pytest.param(
            "end(timed(each, write, range(32)), timed(flush), timed(each, read, range(16)))",
            (*CACHED, "read_bps=4MiB/s", "seek_time=1ms"),
            (1.0 + 0.001, 1.0, 0.25),
            id="cache, seeks, a rate of reads",
        ),
        pytest.param(
            "end(timed(together, write, range(0, 16, 2)))",
            ("depth=4", "latency=100ms", "write_bps=64MiB/s"),
            (2 * 0.1 + 5 * BLOCK / (64 * MIB),),
            id="depth",
        ),
        pytest.param(
            "end(timed(each, write, range(16)))",
            ("stall_every=256KiB", "stall_time=300ms"),
            (16 * BLOCK / MIB + 4 * 0.3,),
            id="stalls",
        ),
        pytest.param(
            f"end(timed(together, write, {SCATTERED}))",
            ("depth=8", "write_bps=64MiB/s", "seek_time=100ms", "stall_every=256KiB", "stall_time=300ms"),
            (0.1 + 8 * BLOCK / (64 * MIB) + 2 * 0.3,),
            id="depth, seeks and stalls",
        ),
    ],
)
def test_the_model_holds_with_the_real_clock(measured, code, disk, expected_s):
    """A busy host may delay a device but cannot make it faster. In virtual time the same formulas hold exactly."""
    found = measured(code, *disk, clock="real")
    assert len(found) == len(expected_s)
    assert all(expected - 0.02 < measured_s for measured_s, expected in zip(found, expected_s, strict=True)), found


def test_a_run_with_all_model_parameters_is_reproducible(shared_lab):
    """This run has a filesystem and the page cache, which the formulas leave out."""
    settings = ("disk.size=64MiB", "disk.depth=8", "disk.seek_time=2ms", "disk.read_bps=8MiB/s", *SECONDS[1:])
    settings += ("disk.stall_every=1MiB", "disk.stall_time=200ms", "disk.stalls=random")
    settings += ("disk.cache_bytes=1MiB", "disk.drain_bps=1MiB/s", "disk.write_bps=8MiB/s")
    settings += ("disk.erase_block=512KiB", "disk.open_blocks=2", "disk.iops=200")
    settings += ("disk.burst_bytes=4MiB", "disk.sustained_bps=6MiB/s")
    first, again = (shared_lab.run("base-device", *settings) for _ in range(2))
    assert digest(first) == digest(again)
