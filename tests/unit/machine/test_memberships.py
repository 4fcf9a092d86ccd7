"""Control groups of tasks, in a /proc of the test."""

import pytest

from wblab.machine.memberships import tasks_by_group


def make(proc, process, threads, text):
    for thread in threads:
        (proc / str(process) / "task" / str(thread)).mkdir(parents=True)
        (proc / str(process) / "task" / str(thread) / "cgroup").write_text(text)


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("0::/system.slice/docker-4f3c.scope\n", "/system.slice/docker-4f3c.scope"),
        ("0::/kubepods.slice/a:b\n", "/kubepods.slice/a:b"),
        ("12:cpu,cpuacct:/x\n4:memory:/docker/4f3c\n1:name=systemd:/docker/4f3c\n", "/docker/4f3c"),
        ("4:memory:/kubepods/pod1\n0::/\n", "/kubepods/pod1"),  # both versions: processes are in one of the first
        ("4:memory:/a\n0::/user.slice\n", "/user.slice"),
    ],
)
def test_a_task_is_in_the_group_that_its_dirty_pages_count_for(tmp_path, text, group):
    make(tmp_path, 7, [7, 9], text)
    assert tasks_by_group(tmp_path) == {group: (7, 9)}


def test_tasks_in_the_root_group_and_those_that_ended_are_left_out(tmp_path):
    make(tmp_path, 2, [2], "0::/\n")
    make(tmp_path, 3, [3], "3:cpuset:/only\n")
    (tmp_path / "8" / "task" / "8").mkdir(parents=True)
    (tmp_path / "9").mkdir()
    (tmp_path / "meminfo").write_text("")
    assert tasks_by_group(tmp_path) == {}
