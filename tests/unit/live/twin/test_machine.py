import os
from pathlib import Path

import numpy as np
import pytest

from wblab.analysis.runs.run import LoadCycles, Run
from wblab.core.errors import InputError
from wblab.core.loads import Command
from wblab.lab.specfile import HostDisk, LiveSpec
from wblab.live.disks.queue import MachineQueue
from wblab.live.runs.request import INNOCENT
from wblab.live.twin.described import machine_of, measured_bps, this_machine

S = 10**9
TRAFFIC = {"written_bytes": 3 << 30, "written_per_busy_s": 90_000_000, "most_written_per_s": 70_000_000}
LIVE = {"traffic": TRAFFIC, "thresholds": {"background": 375_000_000, "dirty": 750_000_000}}


def live_run(kind="live", live=LIVE, offender=True):
    loads = INNOCENT | ({"apt": Command(argv=("apt", "upgrade"), wait=5 * S, ioclass="idle")} if offender else {})
    disk = HostDisk(device="/dev/sda1", filesystem="ext4", scheduler="mq-deadline")
    spec = LiveSpec(name="live", memory=8 << 30, disk=disk, load=loads)
    times = np.array([0, 5 * S, 60 * S])
    cycles = tuple(LoadCycles(name, load, 7, "stopped", "", times) for name, load in loads.items())
    return Run(Path("exp/live"), {"kind": kind, "live": live}, spec, cycles)


def test_the_machine_is_read_from_a_live_run():
    machine = machine_of(live_run())
    assert (machine.memory_bytes, machine.write_bps, machine.offender_bytes) == (8 << 30, 70_000_000, 3 << 30)
    assert (machine.filesystem, machine.scheduler, machine.ioclass) == ("ext4", "mq-deadline", "idle")
    assert (machine.wait_ns, machine.innocent) == (5 * S, INNOCENT)
    assert machine.flush_s == pytest.approx(5.36, abs=0.01)


def test_a_live_run_s_queue_is_that_of_its_first_disk():
    queue = {"nr_requests": "2", "max_sectors_kb": "1024", "wbt_lat_usec": "0", "driver": "usb-storage"}
    found = machine_of(live_run(live=LIVE | {"queues": {"sdb": queue, "sdc": {}}})).queue
    assert found == MachineQueue(requests=2, request_bytes=1 << 20, wbt_lat_usec=0, driver="usb-storage")
    assert machine_of(live_run()).queue is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"live": LIVE | {"queues": {"sda": {"nr_requests": "x", "max_sectors_kb": "4"}}}}, "the queues in its record"),
        ({"live": LIVE | {"queues": ["sda"]}}, "the queues in its record are none"),
        ({"kind": "uml"}, "give a run of wblab live"),
        ({"live": LIVE | {"traffic": None}}, "records no writes to a disk"),
        ({"live": LIVE | {"traffic": TRAFFIC | {"written_bytes": 0}}}, "records no writes to a disk"),
        ({"live": LIVE | {"thresholds": {}}}, "records no dirty thresholds"),
        ({"live": None}, "records no writes to a disk"),
        ({"offender": False}, "has no offender"),
    ],
)
def test_an_incomplete_run_is_refused(changed, message):
    with pytest.raises(InputError, match=message):
        machine_of(live_run(**changed))


def test_the_disk_is_measured_and_nothing_is_left(tmp_path):
    assert measured_bps(tmp_path, seconds=0.1, most_bytes=8 << 20) > 0
    assert os.listdir(tmp_path) == []


def test_an_unwritable_directory_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot measure the disk"):
        measured_bps(tmp_path / "none")


def test_a_directory_without_a_disk_is_refused():
    with pytest.raises(InputError, match="not on a disk"):
        this_machine(Path("/proc"))
