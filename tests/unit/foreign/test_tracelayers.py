"""Writes and syncs of another machine's tasks are taken apart as those of a run, as far as their trace has events."""

import json
from typing import ClassVar

import pytest
from support.tracewriter import event_format
from support.writetraces import FSYNC, WriteStory

from wblab.cli import main

DB = 100
STACK = ("folio_wait_writeback", "__filemap_fdatawait_range", "vfs_fsync_range", "__x64_sys_fsync")
ENDED = ("folio_end_writeback", "end_bio_bh_io_sync", "blk_mq_end_request", "asm_common_interrupt")
US = 1000


_KEPT = ("sched", "block", "ftrace")
_CALLS = [
    event_format("sys_enter_fsync", 320, "unsigned int fd 8 8 0"),
    event_format("sys_exit_fsync", 321, "long ret 8 8 1"),
]


class CallStory(WriteStory):
    """A story with an event for each system call by its name, as a recorder has them, and none of a journal."""

    formats: ClassVar = {name: WriteStory.formats[name] for name in _KEPT} | {"syscalls": _CALLS}


def told(path, kind=CallStory):
    """Write a trace with one fsync of 5 ms, of which 1 is in the queue and 3 at the device; another one never ends."""
    story = kind({DB: "postgres", 0: "swapper"})
    story.switch(0, 0, DB)
    story.enter(5000 * US, DB, FSYNC)
    story.submit(5000 * US, DB, 1000, 8, inode=13)
    story.insert(5000 * US, DB, 1000, 8)
    story.switch(6000 * US, DB, 0, stack=STACK)
    story.issue(7000 * US, 0, 1000, 8)
    story.complete(10_000 * US, 1000, 8)
    story.hand_over(10_000 * US, 0, DB, ENDED)
    story.leave(10_000 * US, DB, FSYNC)
    story.enter(12_000 * US, DB, FSYNC)
    story.switch(13_000 * US, DB, 0, stack=STACK)
    path.write_bytes(story.encode())
    return str(path)


def test_a_call_is_taken_apart_to_the_ns(tmp_path, capsys):
    assert main(["why", "--layers", told(tmp_path / "trace.dat"), "--load", "postgres", "--json"]) == 0
    out, err = capsys.readouterr()
    (call,) = json.loads(out)
    assert (call["load"], call["call"], call["start_ns"], call["duration_ns"]) == (
        "postgres",
        "fsync",
        5000 * US,
        5000 * US,
    )
    assert call["states"] == {"device": 3000 * US, "cpu": 1000 * US, "queue": 1000 * US}
    assert err.splitlines() == ["wblab: not in it: the phases of a commit of ext4's journal: record jbd2"]


@pytest.mark.parametrize("load", [(), ("--load", "postgres")])
def test_a_trace_without_the_calls_is_refused(tmp_path, capsys, load):
    path = told(tmp_path / "trace.dat", WriteStory)  # raw numbers, of a machine that nobody names
    assert main(["why", "--layers", path, *load]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "has no write and no sync of postgres" in line
