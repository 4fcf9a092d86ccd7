"""Each write and each fsync of a load is taken apart, to the nanosecond, on disks of different kinds."""

from functools import cache

import pytest

from wblab.layers.requests import layers

SHORT = ("load.s1.count=20", "load.l1.wait=2s", "trace.lead=1s")
RAM = ("disk={size='64MiB', model='ram', mkfs_options=['-b', '4096']}",)
XFS = ("disk.filesystem=xfs", "disk.size=300MiB", "disk.mkfs_options=[]", "memory=512MiB")
DISKS = {"ext4": (), "xfs": XFS, "ram": RAM, "large": ("load.s1.block=1MiB",), "direct": ("load.s1.method=O_DIRECT",)}


@pytest.fixture(scope="module")
def taken_apart(shared_lab):
    """Return the calls of a run on one of DISKS: it is made once."""

    @cache
    def of(disk):
        return layers(shared_lab.run("layers", *SHORT, *DISKS[disk]))

    return of


@pytest.mark.parametrize("disk", DISKS)
def test_states_and_causes_sum_to_each_call(taken_apart, disk):
    found = taken_apart(disk)
    assert len([call for call in found if call.call == "write"]) == 20
    for call in found:
        assert sum(call.states.values()) == sum(call.causes.values()) == call.duration_ns > 0
        assert "unknown" not in call.states
