"""OOM kills in the console of a run."""

import pytest

from wblab.lab.formats import CONSOLE
from wblab.lab.oomkills import oom_kills, said

GROUP = """\
[   18.300000] w-in invoked oom-killer: gfp_mask=0x101cca(GFP_HIGHUSER_MOVABLE|__GFP_WRITE), order=0, oom_score_adj=0
[   18.300000] memory: usage 65536kB, limit 65536kB, failcnt 328
[   18.300000] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/box,task_memcg=/box,task=l1,pid=27,uid=0
[   18.300000] Memory cgroup out of memory: Killed process 27 (l1) total-vm:24520kB, anon-rss:11564kB
"""
MACHINE = """\
[   25.020000] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task_memcg=/,task=python3,pid=31,uid=0
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nothing of it\n", []),
        (
            GROUP + MACHINE,
            [
                "The kernel killed l1 at guest time 18.3 s, as its control group *box* had reached its limit of memory "
                "of 64 MiB (OOM killer)",
                "The kernel killed python3 at guest time 25.0 s, as the machine's memory was full (OOM killer)",
            ],
        ),
        (
            GROUP.replace("limit 65536kB", "limit 9007199254740988kB").replace("task=l1", "task=\x1b[31ml1"),
            [
                "The kernel killed \\x1b[31ml1 at guest time 18.3 s, as its control group *box* had reached its limit "
                "of memory (OOM killer)"
            ],
        ),
    ],
)
def test_each_kill_says_whose_memory_was_full(tmp_path, text, expected):
    (tmp_path / CONSOLE).write_text(text)
    assert [said(kill) for kill in oom_kills(tmp_path)] == expected


def test_times_may_count_from_the_loads_start(tmp_path):
    (tmp_path / CONSOLE).write_text(GROUP)
    assert said(oom_kills(tmp_path)[0], 13.05).startswith("The kernel killed l1 at 5.2 s, as")


def test_a_console_that_is_a_link_is_not_read(tmp_path):
    (tmp_path / "elsewhere").write_text(GROUP)
    (tmp_path / CONSOLE).symlink_to(tmp_path / "elsewhere")
    assert oom_kills(tmp_path) == []
