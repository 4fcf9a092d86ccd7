"""The layers of each write and fsync of a load, exact to the nanosecond, on different kinds of disks."""

from functools import cache
from statistics import median

import pytest

from wblab.analysis.layers.bylayer import layers
from wblab.analysis.layers.summary import stephens_shares, summaries

SHORT = ("load.s1.count=20", "load.l1.wait=2s", "trace.lead=1s")
RAM = ("disk={size='64MiB', model='ram', mkfs_options=['-b', '4096']}",)
XFS = ("disk.filesystem=xfs", "disk.size=300MiB", "disk.mkfs_options=[]", "memory=512MiB")
DISKS = {"ext4": (), "xfs": XFS, "ram": RAM, "large": ("load.s1.block=1MiB",), "direct": ("load.s1.method=O_DIRECT",)}


@pytest.fixture(scope="module")
def taken_apart(shared_lab):
    """Return the calls of a run on one of DISKS; each run is made once."""

    @cache
    def of(disk):
        return layers(shared_lab.run("layers", *SHORT, *DISKS[disk]))

    return of


@pytest.mark.parametrize("disk", DISKS)
def test_states_and_causes_add_up_to_each_call(taken_apart, disk):
    found = taken_apart(disk)
    assert len([call for call in found if call.call == "write"]) == 20
    for call in found:
        assert sum(call.states.values()) == sum(call.causes.values()) == call.duration_ns > 0
        assert "unknown" not in call.states


def test_no_call_waits_for_a_disk_in_memory(taken_apart):
    states = {state for call in taken_apart("ram") for state in call.states}
    assert "cpu" in states <= {"cpu", "journal"}


@pytest.mark.parametrize(("disk", "requests", "cause"), [("ext4", 5, "commit"), ("xfs", 4, "log write")])
def test_fsync_of_a_growing_file_waits_for_its_data_and_the_log(taken_apart, disk, requests, cause):
    syncs = [call for call in taken_apart(disk) if call.call == "fsync"]
    assert median(call.served for call in syncs) == requests
    for call in syncs:
        assert {cause, "folio under writeback"} <= set(call.causes)
        assert call.states["device"] + call.states["flush"] > 0.8 * call.duration_ns


def test_a_direct_write_itself_waits_for_the_device(taken_apart):
    for call in taken_apart("direct"):
        assert call.call == "write"
        assert call.causes["direct write"] > call.causes["cpu"]


def test_sleep_stacks_agree_with_the_events_of_system_calls(taken_apart):
    for call in taken_apart("ext4"):
        if call.call == "fsync":
            assert 0.9 * call.entered["ext4_sync_file"] < call.functions["ext4_sync_file"]
            assert call.functions["ext4_sync_file"] <= call.entered["ext4_sync_file"]


def test_by_prefix_most_time_is_the_filesystem_s_although_the_device_causes_it(taken_apart):
    found = [item for item in summaries(taken_apart("ext4")) if item.call == "fsync"]
    assert stephens_shares(found)["FS"] > 0.9
    assert found[0].shares["device"] + found[0].shares["flush"] > 0.8
