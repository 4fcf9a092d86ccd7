from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.check import check_spec
from wblab.core.drivers import Scheduler
from wblab.core.loads import Commit
from wblab.core.spec import Filesystem
from wblab.core.units import Bytes, Nanoseconds
from wblab.lab.disks import read_disk
from wblab.live.disks.queue import MachineQueue
from wblab.live.runs.request import INNOCENT
from wblab.live.twin.described import SYNCING, Machine, OffenderLimits, with_disk
from wblab.live.twin.scale import GUEST_BYTES, twin_of

GIB, MIB = 1 << 30, 1 << 20
THESIS = Machine(
    memory_bytes=8 * GIB,
    background_bytes=375_000_000,
    dirty_bytes=750_000_000,
    write_bps=70_000_000,
    filesystem="ext4",
    scheduler="mq-deadline",
    offender_bytes=3 * GIB,
    wait_ns=5 * 10**9,
    ioclass="idle",
    innocent=INNOCENT,
)

machines = st.builds(
    lambda background_bytes, **values: Machine(
        background_bytes=background_bytes, dirty_bytes=2 * background_bytes, **values
    ),
    memory_bytes=st.integers(256 * MIB, 1024 * GIB),
    background_bytes=st.integers(8 * MIB, 64 * GIB),
    write_bps=st.integers(MIB, 8 * GIB),
    filesystem=st.sampled_from([*get_args(Filesystem), "zfs"]),
    scheduler=st.sampled_from([*get_args(Scheduler), "", "none,bfq"]),
    offender_bytes=st.integers(1, 16 * GIB),
    wait_ns=st.just(5 * 10**9),
    innocent=st.just(INNOCENT),
)


def test_the_thesis_machine_becomes_a_small_guest():
    twin = twin_of(THESIS, "twin")
    assert THESIS.flush_s == pytest.approx(5.36, abs=0.01)
    assert twin.spec.memory == GUEST_BYTES
    assert twin.factor == pytest.approx(81.9, abs=0.1)
    assert (twin.spec.disk["disk"].filesystem, twin.spec.disk["disk"].scheduler, twin.notes) == (
        "ext4",
        "mq-deadline",
        (),
    )
    assert twin.spec.load["offender"].ioclass == "idle"
    assert {name: load for name, load in twin.spec.load.items() if load.role != "offender"} == INNOCENT


@given(machines)
def test_a_twin_is_valid_and_has_its_machine_s_flush_time(machine):
    twin = twin_of(machine, "twin")
    check_spec(twin.spec)
    background = twin.spec.sysctl["vm.dirty_background_bytes"]
    rounding = 4096 / background + 1 / twin.spec.disk["disk"].write_bps
    assert background / twin.spec.disk["disk"].write_bps == pytest.approx(machine.flush_s, rel=2 * rounding)
    assert twin.spec.memory <= max(2 * GIB, machine.memory_bytes) + 4096


def test_features_missing_in_a_guest_are_reported():
    machine = Machine(**{**vars(THESIS), "filesystem": "zfs", "scheduler": ""})
    twin = twin_of(machine, "twin")
    assert (twin.spec.disk["disk"].filesystem, twin.spec.disk["disk"].scheduler) == ("ext4", "none")
    assert [note.partition(":")[0] for note in twin.notes] == [
        "the guest has no zfs",
        "the disk's I/O scheduler is unknown",
    ]


def test_a_measured_disk_keeps_its_times_in_the_twin():
    disk = replace(read_disk("usb-stick"), stall_every=8 * MIB, stall_time=1_150_000_000, stalls="random")
    machine = with_disk(THESIS, disk)
    assert machine.write_bps == pytest.approx(1 / (1 / 10e6 + 1.15 / (8 * MIB)), rel=0.001)  # stalls included
    twin = twin_of(machine, "twin")
    check_spec(twin.spec)
    small = twin.spec.disk["disk"]
    assert small.write_bps == pytest.approx(disk.write_bps / twin.factor, rel=0.001)
    assert small.stall_every == pytest.approx(disk.stall_every / twin.factor, rel=0.001)
    assert small.erase_block == pytest.approx(disk.erase_block / twin.factor, rel=0.001)
    assert (small.latency, small.stall_time, small.stalls) == (disk.latency, disk.stall_time, "random")
    assert with_disk(THESIS, read_disk("hdd")).write_bps == 51_000_000  # through its write cache


def as_set(**changes):
    return Machine(**{**vars(THESIS), **changes})


def test_the_machine_s_settings_are_set_in_the_twin():
    timers = {"vm.dirty_expire_centisecs": 500}
    group = OffenderLimits(memory_high=64 * MIB, io_max_bps=56_000_000)
    twin = twin_of(as_set(timers=timers, own_limit=50_000, group=group), "twin", 32.0)
    check_spec(twin.spec)
    disk = twin.spec.disk["disk"]
    assert twin.factor == 32
    assert twin.spec.sysctl["vm.dirty_expire_centisecs"] == 500  # times are not scaled
    assert disk.bdi == {"max_ratio_fine": 50_000, "strict_limit": 1}  # nor are shares
    assert twin.spec.cgroup["bulk"].loads == ("offender",)
    assert twin.spec.cgroup["bulk"].files == {
        "memory.max": "max",
        "memory.high": 2 * MIB,
        "io.max": "{disk} wbps=1750000",
    }
    assert disk.queue == {"wbt_lat_usec": 0}


def test_a_weight_is_set_for_the_scheduler():
    twin = twin_of(as_set(scheduler="bfq", group=OffenderLimits(io_weight=10)), "twin")
    check_spec(twin.spec)
    assert twin.spec.cgroup["bulk"].files == {"memory.max": "max", "io.bfq.weight": "10"}


def test_the_queue_of_the_machine_s_driver_is_scaled():
    queue = MachineQueue(requests=64, request_bytes=4 * MIB, wbt_lat_usec=75_000, driver="sata", rotational="1")
    twin = twin_of(as_set(queue=queue), "twin", 32.0)
    check_spec(twin.spec)
    disk = twin.spec.disk["disk"]
    assert (disk.driver, disk.queue) == ("sata", {"max_sectors_kb": 128, "rotational": 1})
    assert not [note for note in twin.notes if "queue" in note]


def test_an_unknown_driver_and_a_queue_of_another_length_are_said():
    queue = MachineQueue(requests=1023, request_bytes=MIB, wbt_lat_usec=2000)
    said = [note for note in twin_of(as_set(queue=queue, scheduler="none"), "twin", 4.0).notes if "queue" in note]
    assert said == [
        "the lab does not know the driver of the disk: the twin has virtio with all settings of the queue. If "
        "the driver takes fewer requests at a time, a short queue helps less: a recorder's file shows it",
        "the twin's queue holds 64 MiB instead of 256 MiB: its driver permits no other",
    ]


def test_a_named_disk_brings_its_driver_s_queue():
    machine = with_disk(THESIS, read_disk("usb-stick"))
    assert machine.queue == MachineQueue(
        requests=2,
        request_bytes=MIB,
        wbt_lat_usec=75_000,
        driver="usb-storage",
        rotational="1",
        write_cache="write through",
    )
    with_queue = as_set(queue=MachineQueue(requests=9, request_bytes=MIB, wbt_lat_usec=0, driver="sata"))
    assert with_disk(with_queue, replace(read_disk("usb-stick"), driver="ubd")).queue == with_queue.queue


def test_the_copy_s_blocks_are_scaled_where_folios_are_large():
    large = replace(THESIS, block_bytes=MIB, folio_bytes=2 * MIB)
    for factor, block in ((1, MIB), (8, 128 << 10), (11, 128 << 10), (300, 1 << 10)):
        load = twin_of(large, "twin", factor).spec.load["offender"]
        assert load.block == max(block, load.size // 2**20)
    assert twin_of(replace(large, folio_bytes=4096), "twin", 8) == twin_of(THESIS, "twin", 8)


def test_a_slow_disk_gets_enough_time():
    machine = as_set(write_bps=1_000_000, dirty_bytes=3 * GIB)
    assert twin_of(machine, "twin").spec.time_limit > 10 * 10**9 * 3 * GIB // 1_000_000
    assert twin_of(THESIS, "twin").spec.time_limit == 900 * 10**9


def test_the_copy_ends_before_a_load_beside_it_has_recorded_all_its_cycles():
    large = replace(
        THESIS, memory_bytes=256 * GIB, background_bytes=25 * GIB, dirty_bytes=51 * GIB, offender_bytes=153 * GIB
    )
    slow = with_disk(large, read_disk("usb-stick"))
    twin = twin_of(slow, "twin")
    load, rate = twin.spec.load["offender"], twin.spec.disk["disk"].write_bps
    lasts_ns = load.wait + (load.size - twin.spec.sysctl["vm.dirty_bytes"]) / rate * 1e9
    assert 0.6 < lasts_ns / min(each.capacity * each.idle for each in INNOCENT.values()) < 0.8
    assert all(0 < twin.spec.load[name].until < each.capacity * each.idle for name, each in INNOCENT.items())
    assert any("as long as its loads can be measured" in note for note in twin.notes)


def test_the_twin_has_room_for_the_innocent_loads_files():
    load = Commit(file="db", size=Bytes(64 * MIB), idle=Nanoseconds(10**8))
    sizes = [twin_of(as_set(innocent=loads), "twin").spec.disk["disk"].size for loads in (INNOCENT, {"db": load})]
    assert sizes[1] >= sizes[0] + 60 * MIB


def test_the_twin_has_room_for_a_log_that_grows_until_the_run_ends():
    without, beside = (twin_of(as_set(innocent=loads), "twin").spec for loads in (INNOCENT, INNOCENT | SYNCING))
    log = SYNCING["k2"]
    grown = log.block * (beside.time_limit // log.idle)
    assert beside.disk["disk"].size >= without.disk["disk"].size + SYNCING["k1"].size + grown


def test_the_offender_writes_faster_than_a_disk_that_is_fast_in_the_guest_too():
    slow, fast = (replace(THESIS, write_bps=bps, disk=None, offender_bytes=64 * MIB) for bps in (1 << 20, 40 << 20))
    blocks = [twin_of(each, "t", factor=1.0).spec.load["offender"].block for each in (slow, fast)]
    assert blocks == [1 << 10, 8 << 10]
