"""An aged disk is made once, stored completely or not at all, and copied; a script replaces the guest."""

import os
from dataclasses import replace
from multiprocessing.pool import ThreadPool

import pytest
from support.scripted import scripted

from wblab.core.errors import WblabError
from wblab.core.spec import Disk, Spec
from wblab.host import agedimage
from wblab.host.disks.disk import made_disk, mkfs_of
from wblab.lab.progress import silent

MIB = 1 << 20
DISK = Disk(size=16 * MIB, used=20, write_bps=1)
SPEC = Spec(name="aged", memory=64 * MIB, disk={"disk": DISK}, load={})
GUEST = """
told = json.load(open(f"{scratch}/guest.json"))
disk = told["spec"]["disk"]
assert (told["age"], disk["used"], disk["layout"], disk["size"]) == (True, 20, 6, 16 << 20)
assert os.pread(12, 2, 1080) == b"\\x53\\xef"
os.pwrite(12, b"aged", 12 << 20)
"""
GOOD = "time.sleep(0.2)\nsay('power off')\n"
BAD = "say('failed', reason='no room')\nsay('power off')\n"


@pytest.fixture
def kernel(tmp_path, monkeypatch, shm):
    """Return a function that makes a script in place of a kernel."""
    make = scripted(tmp_path, monkeypatch, "wblab.host.agedimage")
    return lambda code: make(GUEST + code)


def provisioned(kernel, tmp_path, spec=SPEC, report=silent):
    """Return the bytes at 12 MiB of an aged disk, and the work that remains for it."""
    (tmp_path / "program").write_bytes(b"")
    (mkfs,) = mkfs_of(spec)
    with made_disk(DISK.size) as fd:
        disk = spec.disk["disk"]
        left = agedimage.provision(spec, disk, mkfs, fd, kernel=kernel, program=tmp_path / "program", report=report)
        assert os.pread(fd, 2, 1080) == b"\x53\xef"
        return os.pread(fd, 4, 12 * MIB), left.command


def images(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache/wblab/disks").glob("*") if path.suffix != ".lock")


def test_an_aged_disk_is_made_once_and_copied(kernel, tmp_path):
    said = []
    good = kernel(GOOD)
    assert provisioned(good, tmp_path, report=lambda *words: said.append(words)) == (b"aged", ())
    assert said[0] == (None, "aging the disk, once: the result is cached")
    (name,) = images(tmp_path)
    assert name.endswith(".img")
    assert provisioned(kernel(BAD), tmp_path) == (b"aged", ())  # nobody is asked again
    assert images(tmp_path) == [name]


def test_two_runs_at_once_make_an_aged_disk_once(kernel, tmp_path):
    good, said = kernel(GOOD), []
    with ThreadPool(1) as other:
        second = other.apply_async(provisioned, (good, tmp_path, SPEC, lambda *words: said.append(words)))
        assert provisioned(good, tmp_path, report=lambda *words: said.append(words))[0] == second.get(30)[0] == b"aged"
    assert (None, "waiting while another run ages the disk") in said
    assert len(images(tmp_path)) == 1


def test_a_failed_aging_is_not_cached(kernel, tmp_path):
    with pytest.raises(WblabError, match="no room"):
        provisioned(kernel(BAD), tmp_path)
    assert images(tmp_path) == []


@pytest.mark.parametrize(
    "change",
    [{"disk": {"disk": replace(DISK, mkfs_options=("-b", "4096"))}}, {"seed": 2}],
    ids=["options", "seed"],
)
def test_another_filesystem_needs_another_aged_disk(kernel, tmp_path, change):
    good = kernel(GOOD)
    for spec in (SPEC, replace(SPEC, **change)):
        provisioned(good, tmp_path, spec)
    assert len(images(tmp_path)) == 2


def test_names_mounts_and_models_share_an_aged_disk(kernel, tmp_path):
    good = kernel(GOOD)
    other = replace(DISK, mount_options=("nodelalloc",), model="device", latency=1000)
    provisioned(good, tmp_path)
    provisioned(good, tmp_path, replace(SPEC, name="other"))
    assert len(images(tmp_path)) == 1
    provisioned(good, tmp_path, replace(SPEC, disk={"disk": other}))
    assert len(images(tmp_path)) == 1
