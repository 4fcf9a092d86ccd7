"""The changes that root makes for an advice or a journal."""

from dataclasses import replace

import pytest
from support.advised import SITE, advice_for

from wblab.core.errors import InputError
from wblab.live.advise.apply import paths_of
from wblab.live.advise.settings import WantedSetting
from wblab.live.changes.permitted import ADVISE
from wblab.machine.changes import MadeGroup, Mount, ProcessGroup, Scheduler, Setting

QUEUE = "/sys/block/sda/queue"


def setting(path, back_path=None, new="1", back="0"):
    return Setting(path=path, new=new, back_path=back_path or path, back=back)


@pytest.mark.parametrize(
    "change",
    [
        setting(f"{QUEUE}/nr_requests"),
        setting(f"{QUEUE}/max_sectors_kb", new="128", back="4096"),
        setting(f"{QUEUE}/wbt_lat_usec"),
        setting("/sys/class/bdi/8:0/max_ratio_fine"),
        setting("/sys/class/bdi/btrfs-1/strict_limit"),
        setting("/proc/sys/vm/dirty_bytes", "/proc/sys/vm/dirty_ratio"),
        setting("/proc/sys/vm/dirty_background_bytes"),
        setting("/proc/sys/vm/dirty_expire_centisecs"),
        Scheduler(disk="/sys/block/nvme0n1", old="none", nr_requests="1023", wbt_lat_usec="2000"),
        Scheduler(disk="/sys/block/sda", old="mq-deadline"),
    ],
)
def test_changes_of_an_advice_can_be_undone(change):
    assert ADVISE.can_make(change, None)


@pytest.mark.parametrize(
    "change",
    [
        setting("/etc/passwd"),
        setting(f"{QUEUE}/../../sdb/queue/wbt_lat_usec"),
        setting(f"{QUEUE}/wbt_lat_usec", f"{QUEUE}/scheduler"),
        setting(f"{QUEUE}/wbt_lat_usec", new="1\n"),
        setting("/proc/sys/vm/dirty_expire_centisecs", "/proc/sys/kernel/core_pattern"),
        setting("/proc/sys/vm/dirty_expire_centisecs", back="|/bin/sh"),
        setting("/proc/sys/vm/overcommit_memory"),
        Scheduler(disk="/sys/block/../../etc", old="none"),
        Scheduler(disk="/sys/block/sda/../sdb", old="none"),
        Scheduler(disk="/sys/block/sda", old="none\nbfq"),
        Scheduler(disk="/sys/block/sda", old="none", nr_requests="x"),
        MadeGroup(path="/sys/fs/cgroup/wblab-mitigate"),
        ProcessGroup(leader=1),
        Mount(path="/"),
    ],
)
def test_other_changes_cannot_be_undone(change):
    assert not ADVISE.can_make(change, None)


@pytest.mark.parametrize(
    ("wanted", "changes"),
    [
        (WantedSetting("sysctl", "kernel.core_pattern", "1"), {}),
        (WantedSetting("sysctl", "vm.dirty_bytes", "1; rm"), {}),
        (WantedSetting("queue", "../../../etc/passwd", "1"), {}),
        (WantedSetting("queue", "nr_requests", "1"), {"disks": ("../../etc",)}),
        (WantedSetting("queue", "scheduler", "evil"), {}),
        (WantedSetting("queue", "max_hw_sectors_kb", "128"), {}),
        (WantedSetting("bdi", "strict_limit", "1"), {"bdi": "../../etc"}),
    ],
)
def test_a_record_with_other_settings_is_damaged(wanted, changes):
    advice = advice_for(wanted, site=replace(SITE, **changes))
    with pytest.raises(InputError, match="the study's file is damaged"):
        paths_of(wanted, advice)
