"""A run that is killed at any moment leaves the machine unchanged."""

import os
import random
import signal
import time

import pytest
from support.processes import alive
from support.waiting import wait_until

from wblab.machine.block import scheduler, schedulers
from wblab.machine.storage import find_storage

OURS = ("wblab-live-", "wblab-captures-")


def left(live, tracing):
    """Return everything that a run could leave behind; others that still run may have trace instances."""
    ours = [item.name for item in (tracing / "instances").iterdir() if item.name.startswith(OURS)]
    orphans = [name for name in ours if not alive(int(name.rpartition("-")[2]))]
    return {*orphans, *live.processes(), *os.listdir(live.disk)}


def disk_options(live):
    """Return options that change the disk's scheduler, and a function that reads it; nothing without a disk."""
    place = find_storage(live.disk)
    if not place.disks:
        return [], lambda: ""
    disk = place.disks[0]
    now = scheduler(disk)
    others = [name for name in schedulers(disk) if name != now]
    return (["--scheduler", f"{disk.name}={others[0]}"] if others else []), lambda: scheduler(disk)


@pytest.mark.parametrize("seed", range(8))
def test_a_kill_at_any_moment_leaves_nothing(live, tracing, seed):
    options, scheduler_now = disk_options(live)
    before, there = scheduler_now(), left(live, tracing)
    script = f"dd if=/dev/zero of={live.disk}/written bs=64K count=16; sleep 1000 & : {live.disk}; sleep 1000"
    process = live.start(*options, "--capture-pauses", "10ms", "--capture-around", "100ms", "--", "sh", "-c", script)
    time.sleep(random.Random(seed).uniform(0, 3))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    (live.disk / "written").unlink(missing_ok=True)
    wait_until(lambda: not left(live, tracing) - there)
    wait_until(lambda: scheduler_now() == before)
