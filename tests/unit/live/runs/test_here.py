"""What is refused before a spec runs on this machine itself."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.core.loads import RawOffender
from wblab.core.spec import Clock
from wblab.core.units import Bytes, Nanoseconds
from wblab.host.request import notes, ready
from wblab.kernels import built_kernel
from wblab.kernels.here import find
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.live.runs import here
from wblab.machine.storage import Storage

QUIET = ("clock.mode=real", "trace.events=[]")


def spec(*settings, preset="base", name="live:/srv"):
    return read_spec(SPECS.find(preset), [*QUIET, *settings]).on(name)


def refused(wanted, name, *directories):
    with pytest.raises(InputError) as error:
        here.check(wanted, find(name), *directories)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("phase.p={at='1s'}", "phase.p: that is only for guests"),
        ("cgroup.g={loads=['w1']}", "cgroup.g: that is only for guests"),
        ("agent.a={argv=['ls']}", "agent.a: that is only for guests"),
        ("may_fail=['w1']", "may_fail: that is only for guests"),
        ("load.w1.until=1s", "load.w1.until: that is only for guests"),
        ("kernel.parameters.quiet=1", "kernel.parameters: that is only for guests"),
        ("load.r={kind='command', argv=['ls'], wait='1s'}", "load.r: programs of a spec do not run on this machine"),
        ("disk.used=50", "disk.used, disk.layout: this machine's disks are as full as they are"),
        ("sysctl.vm.swappiness=1", "sysctl.vm.swappiness: only vm.dirty* can be set"),
    ],
)
def test_what_only_guests_have_is_refused_by_its_key(setting, said, tmp_path):
    assert refused(spec(setting), f"live:{tmp_path}").startswith(said)


def test_a_disk_made_of_others_and_a_raw_load_are_refused():
    given = spec()
    with pytest.raises(InputError, match=r"disk\.model=ram: this machine's disks are what they are"):
        here.check_keys(replace(given, disk={"disk": replace(given.disk["disk"], model="ram")}))
    raw = RawOffender(wait=Nanoseconds(0), size=Bytes(4096), block=Bytes(4096))
    with pytest.raises(InputError, match=r"load\.r: a raw load would overwrite a disk"):
        here.check_keys(replace(given, load={"r": raw}))


def test_directories_must_fit_the_disks():
    assert refused(spec(), "live:slow=/a,fast=/b") == "base has one disk: write --on live:DIR"
    two = spec(preset="two-disks")
    assert refused(two, "live:/a") == "two-disks has disks slow and fast: write --on live:slow=DIR,fast=DIR"
    assert refused(two, "live:slow=/a").startswith("two-disks has disks slow and fast")
    assert refused(two, "live:slow=/a,fast=/b,usb=/c").startswith("two-disks has disks slow and fast")


def test_a_directory_must_be_one_on_a_disk(tmp_path):
    (tmp_path / "file").touch()
    assert "No such file" in refused(spec(), f"live:{tmp_path}/nowhere")
    assert "Not a directory" in refused(spec(), f"live:{tmp_path}/file")
    assert refused(spec(), "live:/proc").startswith("/proc is in proc, whose files no disk ever gets")
    if Path("/dev/shm").is_dir():
        assert "whose files no disk ever gets" in refused(spec(), "live:/dev/shm")


def test_setting_limits_needs_root(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert refused(spec(), f"live+limits:{tmp_path}") == (
        "live+limits: sets this machine's dirty limits: run it as root, or write live: instead"
    )


def a_place(device, filesystem="ext4", disks=()):
    return Storage(
        filesystem, "/dev/x", (), Path("/sys/block", device), tuple(Path("/sys/block", each) for each in disks)
    )


def test_two_disks_of_a_spec_are_not_one(tmp_path):
    on_sda = here.Directories(lambda _: a_place("sda"), lambda _: 1 << 40)
    said = refused(spec(preset="two-disks"), f"live:slow={tmp_path},fast={tmp_path}", on_sda)
    assert said == f"{tmp_path} and {tmp_path} are both on sda: give directories on two disks for slow and fast"


def test_what_lies_on_one_disk_below_is_known():
    on_one = {"slow": a_place("dm-0", disks=["sda"]), "fast": a_place("dm-1", disks=["sda", "sdb"])}
    assert here.shared_bottoms(on_one) == ["sda"]
    assert here.shared_bottoms({"slow": a_place("sda", disks=["sda"]), "fast": a_place("sdb", disks=["sdb"])}) == []


def test_without_room_it_is_refused_and_says_how_much_is_missing(tmp_path):
    full = here.Directories(lambda _: a_place("sda"), lambda _: 7 << 20)
    said = refused(spec("disk.size=1GiB"), f"live:{tmp_path}", full)
    assert said == f"{tmp_path} has 7 MiB free, its loads need {1024 + 64} MiB: free some"


def test_it_has_no_virtual_time_and_records_no_events(tmp_path):
    name = f"live:{tmp_path}"
    wanted = read_spec(SPECS.find("base"), []).on(name)
    with pytest.raises(InputError, match="this machine has no virtual time: add --clock real"):
        here.check(wanted, find(name))
    request = ready(replace(wanted, clock=Clock(mode="real")), find)
    assert request.left_out == wanted.trace.events
    assert notes([request], landlock=0) == [
        "on this machine itself a spec's events are not recorded: wblab live records them"
    ]


def test_a_spec_may_not_choose_a_directory_of_this_machine_by_itself(tmp_path):
    name = f"live:{tmp_path}"
    with pytest.raises(InputError, match="a study may not choose that by itself: give --on live:"):
        ready(spec(name=name), lambda kernel: built_kernel(kernel, option="--on"))
    assert built_kernel(name, given=[f"live:{tmp_path}/."]).source == "this machine"
