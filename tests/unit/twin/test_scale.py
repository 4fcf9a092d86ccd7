from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.core.check import check_spec
from wblab.core.spec import Filesystem, Scheduler
from wblab.lab.disks import read_disk
from wblab.live.request import INNOCENT
from wblab.twin.machine import Machine, with_disk
from wblab.twin.scale import GUEST_BYTES, twin_of

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


def test_the_thesis_s_machine_becomes_a_small_guest():
    twin = twin_of(THESIS, "twin")
    assert THESIS.flush_s == pytest.approx(5.36, abs=0.01)
    assert twin.spec.memory == GUEST_BYTES
    assert twin.factor == pytest.approx(54.6, abs=0.1)
    assert (twin.spec.disk["disk"].filesystem, twin.spec.disk["disk"].scheduler, twin.notes) == (
        "ext4",
        "mq-deadline",
        (),
    )
    assert twin.spec.load["offender"].ioclass == "idle"
    assert {name: load for name, load in twin.spec.load.items() if load.role != "offender"} == INNOCENT


@given(machines)
def test_a_twin_can_run_and_has_its_machine_s_flush_time(machine):
    twin = twin_of(machine, "twin")
    check_spec(twin.spec)
    background = twin.spec.sysctl["vm.dirty_background_bytes"]
    rounding = 4096 / background + 1 / twin.spec.disk["disk"].write_bps
    assert background / twin.spec.disk["disk"].write_bps == pytest.approx(machine.flush_s, rel=2 * rounding)
    assert twin.spec.memory <= max(2 * GIB, machine.memory_bytes) + 4096


def test_what_a_guest_does_not_have_is_said():
    machine = Machine(**{**vars(THESIS), "filesystem": "zfs", "scheduler": ""})
    twin = twin_of(machine, "twin")
    assert (twin.spec.disk["disk"].filesystem, twin.spec.disk["disk"].scheduler) == ("ext4", "none")
    assert [note.partition(":")[0] for note in twin.notes] == [
        "the guest has no zfs",
        "the scheduler of no disk is not one of the guest's",
    ]


def test_a_measured_disk_is_the_twin_s_with_its_times_kept():
    disk = read_disk("usb-stick")
    machine = with_disk(THESIS, disk)
    assert machine.write_bps == pytest.approx(1 / (1 / 10e6 + 1.15 / (8 * MIB)), rel=0.001)  # with its stalls
    twin = twin_of(machine, "twin")
    check_spec(twin.spec)
    small = twin.spec.disk["disk"]
    assert small.write_bps == pytest.approx(disk.write_bps / twin.factor, rel=0.001)
    assert small.stall_every == pytest.approx(disk.stall_every / twin.factor, rel=0.001)
    assert (small.latency, small.stall_time, small.stalls) == (disk.latency, disk.stall_time, "random")
    assert with_disk(THESIS, read_disk("hdd")).write_bps == 51_000_000  # through its cache
