import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from support.waiting import wait_until

from wblab.live.mitigate.taskstats import Task, decode

FAMILY = 23


def message(version, *, size, shift=0, tgid_at=None, padding=b""):
    """Build a reply of the kernel: the layout of version 14, with `shift` more bytes before the name."""
    stats = bytearray(size)
    struct.pack_into("=H", stats, 0, version)
    struct.pack_into("=32s", stats, 80 + shift, b"some name\0")
    struct.pack_into("=II", stats, 128 + shift, 4711, 12)
    struct.pack_into("=QQ", stats, 256 + shift, 1 << 40, 4096)
    if tgid_at:
        struct.pack_into("=I", stats, tgid_at, 4700)
    attributes = struct.pack("=HHI", 8, 1, 4711) + padding + struct.pack("=HH", 4 + size, 3) + bytes(stats)
    nested = struct.pack("=HH", 4 + len(attributes), 4) + attributes
    payload = struct.pack("=BBH", 2, 1, 0) + nested
    return struct.pack("=IHHII", 16 + len(payload), FAMILY, 0, 1, 99) + payload


# Sizes of struct taskstats by version, from include/uapi/linux/taskstats.h of the releases that had them.
@pytest.mark.parametrize(
    ("version", "layout", "tgid"),
    [
        (8, {"size": 328}, 0),
        (11, {"size": 368}, 0),
        (13, {"size": 416, "tgid_at": 368}, 4700),
        (14, {"size": 432, "tgid_at": 368}, 4700),
        (15, {"size": 560, "shift": 48, "tgid_at": 464}, 4700),
        (17, {"size": 700, "tgid_at": 368}, 4700),
    ],
)
def test_all_versions_of_the_structure_are_read(version, layout, tgid):
    assert decode(message(version, **layout)) == Task(4711, tgid, 12, "some name", 1 << 40, 4096)


def test_aligned_structures_are_read():
    padding = struct.pack("=HH", 4, 6)
    assert decode(message(14, size=432, padding=padding)) == decode(message(14, size=432))


def test_pyroute2_decodes_the_same(taskstats, disk_path):
    """pyroute2's decoder, which is slow, serves as the reference."""
    from pyroute2.netlink.taskstats import TaskStats

    (disk_path / "file").write_bytes(bytes(1 << 20))
    with TaskStats() as theirs:
        theirs.bind()
        aggregate = theirs.get_pid_stat(os.getpid())[0].get_attr("TASKSTATS_TYPE_AGGR_PID")
    stats = aggregate.get_attr("TASKSTATS_TYPE_STATS")
    (ours,) = taskstats.live([os.getpid()])
    assert (ours.tid, ours.parent) == (stats["ac_pid"], stats["ac_ppid"]) == (os.getpid(), os.getppid())
    assert ours.written_bytes == stats["write_bytes"] >= 1 << 20
    assert ours.cancelled_bytes == stats["cancelled_write_bytes"]


def test_taskstats_agree_with_proc(taskstats, disk_path):
    (disk_path / "file").write_bytes(bytes(3 << 20))
    (task,) = taskstats.live([os.getpid()])
    lines = Path("/proc/thread-self/io").read_text().splitlines()  # a process's file includes its children
    fields = dict(line.split(": ") for line in lines)
    assert task.written_bytes == int(fields["write_bytes"]) & ~1023
    assert task.name == Path("/proc/self/comm").read_text().strip()


def test_ended_tasks_are_left_out(taskstats):
    child = subprocess.Popen(["true"])
    child.wait()
    assert [task.tid for task in taskstats.live([child.pid, os.getpid(), 1])] == [os.getpid(), 1]


def test_many_tasks_do_not_overflow_the_socket(taskstats):
    tids = [os.getpid(), 1] * 1000
    assert [task.tid for task in taskstats.live(tids)] == tids
    assert taskstats.lost == 0


def test_exits_are_reported(taskstats, disk_path):
    code = "import sys; open(sys.argv[1], 'wb').write(bytes(1 << 20))"
    child = subprocess.Popen([sys.executable, "-c", code, disk_path / "file"])
    child.wait()
    told = {}

    def heard():
        told.update({task.tid: task for task in taskstats.exited()})
        return child.pid in told

    wait_until(heard)
    assert told[child.pid].written_bytes >= 1 << 20
    assert told[child.pid].parent == os.getpid()
