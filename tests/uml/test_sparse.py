"""Sparse disks in a guest: it cannot distinguish them from others, and cannot take more memory than allowed."""

import pytest

from wblab.analysis.runs.difference import first_differences
from wblab.host.recorded import RunFailedError

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
