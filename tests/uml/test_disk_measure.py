"""wblab disk measure within a guest, whose disk is known: what it finds is what the disk is."""

import json
import tomllib

import pytest

from wblab.core.spec import Disk
from wblab.lab.disks import disk_settings, read_disk

SCRIPT = (
    "mkdir -p {left}; ls -A /mnt/disk > {left}/before; wblab disk measure /mnt/disk --yes {options} "
    "-o {left}/found.toml 2> {left}/said; ls -A /mnt/disk > {left}/after"
)
QUIET = ("trace.events=[]", "load={c1={kind='control', idle='50ms'}}", "memory=400MiB", "disk.queue={}")


def measured(lab, *settings, options="--max-bytes 96MiB"):
    """Return what was found of a guest's disk, its table of the measurement, and the disk itself."""
    script = SCRIPT.format(left="/run/wblab/scratch/left", options=options)
    load = f"load.go={{kind='command', wait='0s', argv={json.dumps(['sh', '-ec', script])}}}"
    run = lab.run("base-device", *QUIET, load, *settings)
    left = run.path / "left"
    assert (left / "before").read_text() == (left / "after").read_text()
    found = left / "found.toml"
    return read_disk(str(found)), tomllib.loads(found.read_text())["measured"], run.spec.disk["disk"]


def close(found: Disk, disk: Disk, **shares: float) -> None:
    for key, share in shares.items():
        assert getattr(found, key) == pytest.approx(getattr(disk, key), rel=share), key


def test_a_hard_disk_with_its_cache(lab):
    found, about, disk = measured(lab, *disk_settings("hdd"))
    close(found, disk, write_bps=0.15, read_bps=0.05, seek_time=0.05, drain_bps=0.05, cache_bytes=0.1)
    assert (found.depth, found.stall_every) == (1, 0)
    assert found.latency < 100_000
    assert about["explained"] > 0.9
    assert about["direct"]


def test_a_stick_that_stalls(lab):
    found, about, disk = measured(lab, *disk_settings("usb-stick"))
    close(found, disk, write_bps=0.05, read_bps=0.1, latency=0.15, stall_time=0.1, stall_every=0.7)
    assert (found.depth, found.seek_time, found.cache_bytes, found.stalls) == (1, 0, 0, "random")
    assert about["explained"] > 0.9


def test_an_ssd_that_serves_many_at_once(lab):
    found, about, disk = measured(lab, *disk_settings("ssd"))
    close(found, disk, write_bps=0.15, read_bps=0.15, seek_time=0.15, drain_bps=0.1)
    assert 8 <= found.depth <= 32  # with 13 at once the bus is the limit
    assert 20 << 20 < found.cache_bytes < disk.cache_bytes
    assert about["explained"] > 0.9


@pytest.mark.parametrize("filesystem", ["xfs", "vfat", "btrfs"])
def test_through_other_filesystems(lab, filesystem):
    settings = ("disk.latency=2ms", "disk.write_bps=8MiB/s", "disk.read_bps=16MiB/s")
    settings = (*settings, "disk.depth=4", "disk.size=320MiB")
    found, _, disk = measured(lab, f"disk.filesystem={filesystem}", *settings, options="--max-bytes 32MiB")
    close(found, disk, write_bps=0.1, read_bps=0.1, latency=0.1, depth=0)
    assert (found.cache_bytes, found.stall_every) == (0, 0)
