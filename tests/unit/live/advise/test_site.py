"""Facts about the disk below a directory."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.advised import MACHINE, SITE

from wblab.core.errors import InputError
from wblab.live.advise import begin
from wblab.live.advise import machinesite as sites
from wblab.live.advise.begin import with_current_settings
from wblab.live.advise.machinesite import find_site, known_by, own_limit_of, queue_of
from wblab.live.advise.settings import paths
from wblab.live.changes.permitted import WHOLE
from wblab.live.changes.setting import shown_by
from wblab.live.disks.queue import MachineQueue
from wblab.machine.storage import Storage


def test_the_machine_s_settings_are_read(tree):
    (tree / "class/bdi/8:0/max_ratio_fine").write_text("50000\n")
    assert own_limit_of(SITE) == WHOLE  # the limit is not strict
    (tree / "class/bdi/8:0/strict_limit").write_text("1\n")
    assert own_limit_of(SITE) == 50_000
    assert queue_of(SITE) == MachineQueue(requests=256, request_bytes=1280 << 10, wbt_lat_usec=0)
    found = with_current_settings(replace(MACHINE, scheduler="", own_limit=WHOLE), SITE)
    assert (found.scheduler, found.own_limit, found.queue) == ("mq-deadline", 50_000, MACHINE.queue)


def test_a_live_run_s_machine_gets_the_present_thresholds(tree, monkeypatch):
    monkeypatch.setattr(begin, "thresholds", lambda: {"background": 5, "dirty": 10})
    assert with_current_settings(MACHINE, SITE) == replace(MACHINE, background_bytes=5, dirty_bytes=10)
    monkeypatch.setattr(begin, "thresholds", dict)
    with pytest.raises(InputError, match="does not show the dirty thresholds"):
        with_current_settings(MACHINE, SITE)


def test_unusual_machines_are_read(tree):
    assert queue_of(replace(SITE, disks=())) is None
    assert own_limit_of(replace(SITE, abilities=())) == WHOLE
    (tree / "block/sda/queue/scheduler").write_text("none\n")
    (tree / "block/sda/queue/wbt_lat_usec").unlink()
    found = with_current_settings(MACHINE, replace(SITE, abilities=()))
    assert (found.scheduler, found.queue) == ("none", MACHINE.queue)
    (tree / "block/sda/queue/nr_requests").write_text("many\n")
    with pytest.raises(InputError, match="cannot read this machine's settings"):
        with_current_settings(MACHINE, SITE)


def test_several_disks_below_one_filesystem_are_found(tree):
    for name, text in (("scheduler", "[none] bfq"), ("nr_requests", "64"), ("max_sectors_kb", "512")):
        (tree / f"block/sdb/queue/{name}").parent.mkdir(parents=True, exist_ok=True)
        (tree / f"block/sdb/queue/{name}").write_text(f"{text}\n")
    both = replace(SITE, disks=("sda", "sdb"), abilities=())
    assert with_current_settings(MACHINE, both).scheduler == "mq-deadline,none"
    assert [path.parts[-3] for path in paths("queue", "nr_requests", both)] == ["sda", "sdb"]


def test_a_threshold_in_bytes_of_0_is_shown_by_its_ratio(tree):
    path = tree / "vm/dirty_bytes"
    assert shown_by(path).name == "dirty_ratio"
    path.write_text("4096\n")
    assert shown_by(path) == path


def test_a_directory_without_a_disk_is_a_one_line_error(monkeypatch):
    monkeypatch.setattr(sites, "find_storage", lambda directory: Storage("overlay", "overlay", (), None, ()))
    with pytest.raises(InputError, match=r"--dir: '/' is on overlay, not on a disk: give a directory on a disk"):
        find_site(Path("/"))
    monkeypatch.undo()
    with pytest.raises(InputError, match="cannot use '/nowhere': No such file"):
        find_site(Path("/nowhere"))


@pytest.fixture
def device(tmp_path, monkeypatch):
    monkeypatch.setattr(sites, "_UDEV", tmp_path / "udev")
    (tmp_path / "udev").mkdir()
    (tmp_path / "sda/device").mkdir(parents=True)
    (tmp_path / "sda/dev").write_text("8:0\n")
    return tmp_path / "sda"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, 'KERNEL=="sda"'),
        ({"udev/b8:0": "S:disk\nE:ID_SERIAL=WDC_WD10-1\nE:ID_BUS=ata\n"}, 'ENV{ID_SERIAL}=="WDC_WD10-1"'),
        ({"udev/b8:0": "E:DM_UUID=LVM-abc\n"}, 'ENV{DM_UUID}=="LVM-abc"'),
        ({"sda/wwid": "eui.0025\n"}, 'ATTR{wwid}=="eui.0025"'),
        ({"sda/serial": "overlayblk"}, 'ATTR{serial}=="overlayblk"'),
        ({"sda/device/wwid": "naa.5000\n"}, 'ATTRS{wwid}=="naa.5000"'),
        # Attributes of an untrusted stick must not become part of a udev rule.
        ({"udev/b8:0": 'E:ID_SERIAL=x", RUN+="/bin/sh\n'}, 'KERNEL=="sda"'),
        ({"udev/b8:0": "E:ID_SERIAL=*\n", "sda/serial": "a|b"}, 'KERNEL=="sda"'),
        ({"sda/serial": ""}, 'KERNEL=="sda"'),
    ],
)
def test_a_disk_is_recognised_by_its_identity(tmp_path, device, files, found):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert known_by(device) == found
