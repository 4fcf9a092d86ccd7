"""wblab disk measure on this machine's own disk, if it has one: few bytes, little time."""

import json
import os
import pty
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from support.waiting import wait_until

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.lab.disks import disk_settings, read_disk
from wblab.lab.places import ROOT
from wblab.live.disks.device import Model
from wblab.live.disks.fit import Fit
from wblab.live.disks.plan import DiskMeasurement
from wblab.live.disks.survey import Site, Survey, site
from wblab.live.disks.tomlfile import disk_file
from wblab.machine.block import driver_of
from wblab.machine.storage import Storage, find_storage

FEW = ("--max-bytes", "16MiB", "--max-time", "2s")


@pytest.fixture
def here(tmp_path):
    """A directory on a disk; in a container there may be none."""
    if find_storage(tmp_path).device is None:
        pytest.skip("no directory here is on a disk")
    return tmp_path


def test_a_disk_is_measured_and_its_file_can_be_run(here, capsys):
    place = here / "place"
    place.mkdir()
    file = here / "mine.toml"
    assert main(["disk", "measure", str(place), "--yes", *FEW, "-o", str(file)]) == 0
    said = capsys.readouterr()
    assert "is on" in said.err
    assert "The model explains" in said.out
    assert os.listdir(place) == []
    assert read_disk(str(file)).driver == (driver_of(find_storage(place).disks[0]) or "virtio")
    about = tomllib.loads(file.read_text())["measured"]
    assert about["requests"]
    assert 0 <= about["explained"] <= 1


NOTHING = Fit(model=Model(write_bps=10e6, read_bps=20e6), explained=1.0, rows=(), unknown={})
SURVEY = Survey(DiskMeasurement((), 0), True, ())


def on(place, *disks):
    """Return a place on these disks, which a device `md0` holds together."""
    return Site(place, 0, Storage("ext4", "/dev/md0", (), place, disks), Path("/sys/block/md0"))


def with_queue(disk, **attributes):
    (disk / "queue").mkdir(parents=True)
    for name, value in attributes.items():
        (disk / "queue" / name).write_text(f"{value}\n")
    return disk


def test_a_disk_of_an_unknown_driver_has_its_queue_s_settings_in_its_file(tmp_path):
    disk = with_queue(tmp_path / "sda", scheduler="[none]", nr_requests=60, max_sectors_kb=512, rotational=0)
    here = on(tmp_path, disk)
    (file := tmp_path / "mine.toml").write_text(disk_file(NOTHING, SURVEY, here, "2026-11-28"))
    (said,) = here.queue_notes()
    assert said.startswith("the lab does not know the driver of sda: ")
    settings = disk_settings(f"slow={file}")
    assert {each for each in settings if "driver" in each or "queue" in each} == {
        'disk.slow.driver="virtio"',
        "disk.slow.queue.nr_requests=60",
        "disk.slow.queue.max_sectors_kb=512",
        "disk.slow.queue.rotational=0",
        "disk.slow.queue.wbt_lat_usec=0",
    }


def test_disks_of_several_drivers_below_one_filesystem_are_said(tmp_path):
    disks = [
        with_queue(tmp_path / name, scheduler="[bfq]", nr_requests=64, max_sectors_kb=64)
        for name in ("ata1/sda", "ata2/sdb", "sdc")
    ]
    assert on(tmp_path, *disks).queue_notes() == [
        "md0 is on disks of several drivers (sata, unknown): the first one counts"
    ]
    assert (on(tmp_path, *disks[:2]).queue_notes(), on(tmp_path, *disks[:2]).of_queue()["driver"]) == ([], "sata")
    assert on(tmp_path).queue_notes() == ["md0 has no queue of its own: the file says nothing of one"]


def test_json_has_all_that_was_measured(here, capsys):
    assert main(["disk", "measure", str(here), "--yes", "--json", *FEW]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["disk"]["model"] == "device"
    assert {step[0] for step in found["measured"]["steps"]} >= {"write sequential", "read random"}


def test_nothing_is_written_without_consent(here, capsys):
    before = here.stat().st_mtime_ns
    assert main(["disk", "measure", str(here)]) == 2  # tests have no terminal
    assert (os.listdir(here), here.stat().st_mtime_ns) == ([], before)
    assert capsys.readouterr().err.endswith("no terminal to ask for permission on: give --yes\n")


def test_on_a_terminal_the_user_is_asked(here):
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "wblab", "disk", "measure", str(here)]
    asked = subprocess.Popen(command, cwd=ROOT, stdin=follower, stdout=follower, stderr=follower)
    os.write(leader, b"n\n")
    assert asked.wait() == 2
    said = ""
    while "nothing was written" not in said:  # output arrives in pieces
        said += os.read(leader, 4096).decode()
    assert "512 MiB to it and takes up to 60 s" in said
    assert "go on? [y/N]" in said
    for end in (leader, follower):
        os.close(end)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-bytes", "1MiB"), "--max-bytes 1 MiB is too little to measure: give at least 16 MiB"),
        (("--max-time", "1ms"), "--max-time 1 ms is too short"),
        (("-o", "x.json"), "give a .toml file"),
        (("-o", "/none/x.toml"), "in a directory that exists"),
    ],
)
def test_impossible_measurements_are_refused_first(here, capsys, options, message):
    assert main(["disk", "measure", str(here), "--yes", *options]) == 2
    assert message in capsys.readouterr().err


def test_a_directory_on_no_disk_is_refused(capsys):
    assert main(["disk", "measure", "/proc", "--yes"]) == 2
    assert "'/proc' is on proc, not on a disk of this machine" in capsys.readouterr().err
    with pytest.raises(InputError, match="No such file or directory: give another directory"), site(Path("/none")):
        pass


def test_a_full_disk_is_refused(tmp_path):
    device = Path("/sys/block/sda")
    there = Site(tmp_path, 0, Storage("ext4", "/dev/sda", (), device, ()), device)
    with pytest.raises(InputError, match=r"8 MiB must be free, but only 12 KiB are: make room"):
        there.bounds(512 << 20, 60, free=12 << 10)


def test_a_killed_measurement_leaves_no_file(here):
    command = [sys.executable, "-m", "wblab", "disk", "measure", str(here), "--yes", *FEW]
    started = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: started.poll() is not None or any(str(here) in held for held in open_files(started.pid)))
    assert started.poll() is None
    started.kill()
    started.wait()
    assert os.listdir(here) == []


def open_files(pid):
    """Yield the targets of a process's descriptors; for a nameless file, the path that it would have."""
    with suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                if "#" in (path := os.readlink(f"/proc/{pid}/fd/{fd}")):  # a nameless file is shown as /dir/#123
                    yield path
