"""The files to install, and their instructions to undo them."""

import shutil
import subprocess
from dataclasses import replace

import pytest
from support.advised import SITE, advice_for

from wblab.live.advise.files import RULES, SLICE, SYSCTL, files_of, undo_commands
from wblab.live.advise.settings import WantedSetting

LIMITS = (
    WantedSetting("sysctl", "vm.dirty_background_bytes", "1000"),
    WantedSetting("sysctl", "vm.dirty_bytes", "2000"),
)
BEFORE = {
    "/proc/sys/vm/dirty_background_ratio": "10",
    "/proc/sys/vm/dirty_ratio": "20",
    "/sys/block/sda/queue/scheduler": "mq-deadline",
    "/sys/block/sda/queue/nr_requests": "256",
    "/sys/block/sdb/queue/scheduler": "none",
    "/sys/block/sdb/queue/nr_requests": "64",
    "/sys/class/bdi/8:0/max_ratio_fine": "1000000",
    "/sys/class/bdi/8:0/strict_limit": "0",
}
BFQ = (WantedSetting("queue", "scheduler", "bfq"), WantedSetting("queue", "nr_requests", "32"))
OWN = (WantedSetting("bdi", "max_ratio_fine", "50000"), WantedSetting("bdi", "strict_limit", "1"))
SLICED = (WantedSetting("slice", "MemoryHigh", "1048576"), WantedSetting("slice", "IOWriteBandwidthMax", "{dir} 800"))


def made(*wanted, **changes):
    advice = advice_for(*wanted, before=BEFORE, site=replace(SITE, **changes))
    return files_of(advice.candidate("it"), advice), advice


def settings(text):
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_thresholds_are_written_to_sysctl_d():
    files, advice = made(*LIMITS)
    assert list(files) == [SYSCTL]
    assert settings(files[SYSCTL]) == ["vm.dirty_background_bytes = 1000", "vm.dirty_bytes = 2000"]
    assert "# it: does it." in files[SYSCTL]
    for command in (
        "sudo install -m 644 90-wblab.conf /etc/sysctl.d/",
        "sudo sysctl -p /etc/sysctl.d/90-wblab.conf",
        "sudo rm /etc/sysctl.d/90-wblab.conf",
        "echo 20 | sudo tee /proc/sys/vm/dirty_ratio",  # the value in force before
    ):
        assert f"#     {command}\n" in files[SYSCTL]
    assert "dirty_bytes |" not in "".join(undo_commands(SYSCTL, advice.candidate("it"), advice))


def test_queue_and_limit_are_udev_rules_in_order():
    files, _ = made(*BFQ, *OWN)
    match = 'ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{ID_SERIAL}=="WDC_1"'
    assert list(files) == [RULES]
    assert settings(files[RULES]) == [
        f'{match}, ATTR{{queue/scheduler}}="bfq"',
        f'{match}, ATTR{{queue/nr_requests}}="32"',
        f'{match}, ATTR{{bdi/max_ratio_fine}}="50000"',
        f'{match}, ATTR{{bdi/strict_limit}}="1"',
    ]
    undone = [line.removeprefix("#     ") for line in files[RULES].splitlines() if "tee" in line]
    assert undone == [
        "echo mq-deadline | sudo tee /sys/block/sda/queue/scheduler",
        "echo 256 | sudo tee /sys/block/sda/queue/nr_requests",
        "echo 1000000 | sudo tee /sys/class/bdi/8:0/max_ratio_fine",
        "echo 0 | sudo tee /sys/class/bdi/8:0/strict_limit",
    ]


def test_each_disk_of_a_filesystem_has_a_rule():
    known = {"sda": 'ENV{ID_SERIAL}=="A"', "sdb": 'KERNEL=="sdb"', "md0": 'ENV{MD_UUID}=="M"'}
    files, _ = made(*BFQ, OWN[0], disks=("sda", "sdb"), device="md0", bdi="9:0", known_by=known)
    rules = settings(files[RULES])
    assert [rule.split(", ")[3] for rule in rules] == [*[known["sda"], known["sdb"]] * 2, known["md0"]]
    assert "--name-match=/dev/sda --name-match=/dev/sdb --name-match=/dev/md0" in files[RULES]
    assert "echo none | sudo tee /sys/block/sdb/queue/scheduler" in files[RULES]


def test_a_disk_that_no_rule_can_identify_is_reported():
    files, _ = made(*OWN, bdi="btrfs-1")
    assert settings(files[RULES]) == []
    assert "no rule can set strict_limit of btrfs-1" in files[RULES]


def test_a_group_is_a_systemd_slice():
    files, _ = made(*SLICED)
    assert list(files) == [SLICE]
    assert settings(files[SLICE])[-3:] == ["[Slice]", "MemoryHigh=1048576", "IOWriteBandwidthMax=/srv 800"]
    assert "systemd-run --scope --slice=wblab-bulk.slice" in files[SLICE]
    hostile, _ = made(*SLICED, directory="/srv/a\nExecStart=/bin/sh")
    assert settings(hostile[SLICE])[-1] == "IOWriteBandwidthMax=/dev/sda 800"


def test_all_three_files_are_written_if_needed():
    assert list(made(*LIMITS, *BFQ, *SLICED)[0]) == [SYSCTL, RULES, SLICE]


@pytest.mark.parametrize("wanted", [SLICED, SLICED[:1]])
def test_systemd_reads_the_slice(tmp_path, wanted):
    verify = shutil.which("systemd-analyze")
    if verify is None:
        return  # its settings were checked above
    (tmp_path / SLICE).write_text(made(*wanted, directory="/")[0][SLICE])
    found = subprocess.run([verify, "verify", tmp_path / SLICE], capture_output=True, text=True, check=False)
    assert SLICE not in found.stderr, found.stderr
