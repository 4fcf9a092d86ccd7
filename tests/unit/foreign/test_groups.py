"""Limits of control groups in the facts of a machine: version 2 and 1, and what is no limit."""

from support.keptrecordings import kept

from wblab.cli import main
from wblab.foreign.grouptext import GroupLimit, read_groups
from wblab.foreign.recording import read_recording

FACTS = """==> /proc/7/task/7/cgroup <==
0::/app/both
==> /sys/fs/cgroup/app/both/memory.high <==
41943040
==> /sys/fs/cgroup/app/both/memory.max <==
max
==> /sys/fs/cgroup/app/io.max <==
8:0 rbps=max wbps=2000000 riops=max wiops=max
8:16 rbps=max wbps=max riops=max wiops=max
==> /sys/fs/cgroup/app/both/memory.high <==
41943040
==> /sys/fs/cgroup/memory/old/memory.limit_in_bytes <==
62914560
==> /sys/fs/cgroup/memory/memory.limit_in_bytes <==
9223372036854771712
==> /sys/fs/cgroup/blkio/old/blkio.throttle.write_bps_device <==
8:0 1000000
==> /sys/block/sda/dev <==
8:0
==> /proc/vmstat <==
nr_dirty 5
nr_dirty_threshold 1000
nr_dirty_background_threshold 500
"""
LIMITS = [
    GroupLimit("/app/both", "memory.high", 40 << 20),
    GroupLimit("/app", "io.max", 2_000_000, "8:0"),
    GroupLimit("/old", "memory.limit_in_bytes", 60 << 20),
    GroupLimit("/old", "blkio.throttle.write_bps_device", 1_000_000, "8:0"),
]


def test_what_is_set_is_read_once():
    assert read_groups(FACTS) == LIMITS


def test_why_says_which_limits_the_groups_of_who_sleeps_have(tmp_path, capsys):
    (tmp_path / "facts.txt").write_text(FACTS)
    assert main(["why", str(tmp_path / "facts.txt")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "control group /app/both memory.high 40 MiB" in said
    assert "control group /old blkio.throttle.write_bps_device 977 KiB/s for sda" in said
    assert "the limits of control groups" not in said


def test_a_recording_knows_the_groups_of_those_who_slept(tmp_path):
    facts = b"==> /proc/7/task/9/cgroup <==\n0::/kubepods/pod1\n==> /proc/7/task/9/comm <==\ndd\n"
    facts += b"==> /proc/8/task/8/cgroup <==\n3:cpu:/x\n0::/\n==> /proc/self/cgroup <==\n0::/mine\n"
    recording = read_recording(kept(tmp_path / "recorder-1.tar.gz", **{"facts.txt": facts}))
    assert recording.groups == {9: "/kubepods/pod1"}
