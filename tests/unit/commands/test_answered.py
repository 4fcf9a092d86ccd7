"""A run ends with the answer of `wblab why` on standard error, and with what to do next."""

import pytest
from support.blametraces import Story
from support.originals import live_run
from support.runs import MS, S, write_run

from wblab.analysis.runs.run import read_run
from wblab.commands.answer import of_programs
from wblab.commands.answered import print_answer, print_answered
from wblab.lab.captures import CapturedPause, write_capture

MUTEX = ("__schedule", "schedule", "__mutex_lock", "sys_openat")


@pytest.fixture
def explained_run(tmp_path):
    """A run whose load mw1, task 7, waited 1.4 s for a lock of task 8."""
    story = Story({7: "mw1", 8: "dd"})
    story.switch(200 * MS, 7, 8, stack=MUTEX)
    story.wake(1600 * MS, 8, 7, ("try_to_wake_up", "wake_up_q", "__mutex_unlock_slowpath"))
    story.switch(1600 * MS, 8, 7)
    times = {"mw1": [story.start_ns + time * MS for time in (0, 100, 200, 1700, 1800)]}
    path = write_run(tmp_path / "run", times)
    (path / "trace.dat").write_bytes(story.encode())
    return path


def test_the_sentence_and_the_next_command(explained_run, capsys):
    print_answer(explained_run)
    out, said = capsys.readouterr()
    assert out == ""
    lane, *_, first, second = said.splitlines()
    assert lane.startswith("mail mw1 ")
    assert lane.endswith("1.40 s")
    assert first.startswith("wblab: mail mw1 was stalled once in openat(), for 1.40 s: dd")
    assert second == f"wblab: more: wblab why {explained_run}"


def test_a_run_without_pauses_and_one_that_nothing_explains(tmp_path, capsys):
    print_answer(write_run(tmp_path / "quiet", {"mw1": [0, 100 * MS, 200 * MS]}))
    assert "wblab: no pause over 300 ms\n" in capsys.readouterr().err
    print_answer(write_run(tmp_path / "untraced", {"mw1": [0, 100 * MS, 1700 * MS]}))
    assert capsys.readouterr().err == f"wblab: next: wblab why --pauses {tmp_path}/untraced\n"
    live_run(tmp_path / "live")
    for file in (tmp_path / "live").glob("trace.pause-*"):
        file.unlink()
    print_answer(tmp_path / "live")
    assert "repeat it as root with --capture-pauses 300ms" in capsys.readouterr().err


def test_a_capture_that_would_fill_the_memory_is_left_to_why(tmp_path, capsys):
    live_run(tmp_path / "run")
    write_capture(tmp_path / "run", CapturedPause(1, "w1", 0, S, 0, S))
    print_answer(tmp_path / "run", times_size=1 << 40)
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("wblab: ")] == [
        f"wblab: next: wblab why {tmp_path}/run"
    ]


def test_the_directory_is_printed_whatever_interrupts_the_answer(tmp_path, capsys):
    def interrupted(directory):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        print_answered(tmp_path, interrupted)
    assert capsys.readouterr().out == f"{tmp_path}\n"


def test_captures_of_a_program_that_is_no_load_are_named_with_what_explains_them(tmp_path):
    path = write_run(tmp_path / "run", {"mw1": [0, 100 * MS, 1800 * MS]})
    write_capture(path, CapturedPause(1, "mw1", 100 * MS, 1800 * MS, 0, 2 * S))
    assert of_programs(read_run(path)) == ""
    for number, end_ns in ((2, 2 * S), (3, 4 * S)):
        write_capture(path, CapturedPause(number, "my-db-77", S, end_ns, 0, 5 * S))
    said = f"my-db's pauses were captured too: wblab why {path}/trace.pause-3.dat --task 77"
    assert of_programs(read_run(path)) == said
