"""A trace of any machine is explained as the lab's own runs are: its tasks stand for loads."""

import json

import pytest
from support.blametraces import Story
from support.writetraces import WriteStory

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.foreign.traced import Asked, read_traced

DB, FLUSHER, CRON, KTHREAD = 100, 200, 300, 2
MS = 1_000_000
FSYNC = ("folio_wait_writeback", "__filemap_fdatawait_range", "vfs_fsync_range", "__x64_sys_fsync")
ENDED = ("folio_end_writeback", "end_bio_bh_io_sync", "blk_mq_end_request", "asm_common_interrupt")


@pytest.fixture
def trace(tmp_path):
    """A database's fsync waits 900 ms for a request; a kernel worker and a short sleeper sleep too."""
    story = Story({DB: "postgres", FLUSHER: "kworker/u8:1", CRON: "cron", 0: "swapper"})
    story.switch(0, 0, DB)
    story.submit(10 * MS, FLUSHER, 800, 64)
    story.switch(20 * MS, DB, CRON, stack=FSYNC)
    story.switch(21 * MS, CRON, FLUSHER, stack=FSYNC)
    story.switch(22 * MS, FLUSHER, 0, stack=("worker_thread", "kthread"))
    story.wake(60 * MS, 0, CRON, ENDED)
    story.switch(60 * MS, 0, CRON)
    story.switch(61 * MS, CRON, 0)
    story.complete(920 * MS, 800, 64)
    story.wake(920 * MS, 0, DB, ENDED)
    story.switch(920 * MS, 0, DB)
    story.switch(990 * MS, DB, FLUSHER)
    path = tmp_path / "trace.dat"
    path.write_bytes(story.encode())
    return path


def test_the_program_that_slept_longest_is_explained_to_the_ns(trace):
    traced = read_traced(trace, Asked())
    assert [load.name for load in traced.run.loads] == ["postgres", "cron"]  # no kernel thread
    (found,) = traced.explanations(300 * MS)
    assert (found.explanation.load, found.explanation.pause_ns) == ("postgres", 900 * MS)
    assert found.explanation.parts == {"folio under writeback": 900 * MS}
    assert found.explanation.blame == "writeback"


def test_a_task_is_chosen_by_its_name_or_its_pid_and_a_span_by_its_times(trace):
    for task in ("cron", str(CRON)):
        (load,) = read_traced(trace, Asked((task,))).run.loads
        assert (load.name, int(load.pauses_ns.max())) == ("cron", 39 * MS)
    (load,) = read_traced(trace, Asked(("postgres",), 500 * MS, 700 * MS)).run.loads
    assert int(load.pauses_ns.sum()) == 200 * MS


def test_what_a_trace_does_not_hold_is_said_in_a_line(trace):
    with pytest.raises(InputError, match=r"no task 'mysqld': those that slept for longest are postgres, cron"):
        read_traced(trace, Asked(("mysqld",)))
    with pytest.raises(InputError, match=r"covers 0\.99 s: --from and --to"):
        read_traced(trace, Asked((), 5_000 * MS))


def test_why_answers_for_a_file_as_for_a_run(trace, capsys):
    main(["why", str(trace)])
    said = capsys.readouterr().out
    assert "postgres was stalled once in fsync(), for 900 ms" in said
    assert "█" in said
    main(["why", str(trace), "--json"])
    (pause,) = json.loads(capsys.readouterr().out)["pauses"]
    assert pause["pause_ns"] == 900 * MS


def test_a_task_that_slept_from_before_the_trace_on_is_no_known_pause_but_said(tmp_path, capsys):
    story = Story({DB: "postgres", CRON: "cron", 0: "swapper"})
    story.switch(0, 0, CRON)
    story.wake(700 * MS, CRON, DB, ENDED)
    story.switch(701 * MS, CRON, DB)
    (path := tmp_path / "trace.dat").write_bytes(story.encode())
    main(["why", str(path), "--task", "postgres"])
    assert "postgres slept already when the trace began, for 700 ms more, what for is not known; cron ended that." in (
        " ".join(capsys.readouterr().out.split())
    )


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (b"hello", ["--task", "cron"], "--task, --from and --to choose of a trace"),
        (b"\x17\x08\x44tracing6\0", [], "damaged"),
        (None, ["--prove"], "--prove is for runs"),
        (None, ["--from", "soon"], "'soon' is not understood"),
    ],
)
def test_a_file_that_cannot_be_explained_is_refused_in_a_line(trace, capsys, content, options, said):
    if content is not None:
        trace.write_bytes(content)
    assert main(["why", str(trace), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_call_to_sleep_is_no_pause(tmp_path):
    story = WriteStory({DB: "postgres", 0: "swapper"})
    story.enter(0, DB, 230)
    story.switch(1 * MS, DB, 0, stack=("__schedule", "do_nanosleep", "__x64_sys_clock_nanosleep"), light=True)
    story.wake(901 * MS, 0, DB, ("try_to_wake_up", "hrtimer_wakeup", "__hrtimer_run_queues", "hrtimer_interrupt"))
    story.switch(901 * MS, 0, DB)
    story.leave(902 * MS, DB, 230)
    story.enter(903 * MS, DB, 74)
    story.switch(904 * MS, DB, 0, stack=FSYNC)
    story.wake(1404 * MS, 0, DB, ENDED)
    story.switch(1404 * MS, 0, DB)
    story.leave(1405 * MS, DB, 74)
    (path := tmp_path / "trace.dat").write_bytes(story.encode())
    traced = read_traced(path, Asked(("postgres",)))
    (found,) = traced.explanations(100 * MS)
    assert found.explanation.pause_ns == 502 * MS
