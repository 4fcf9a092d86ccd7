"""A trace of another machine as a timeline: its panes, and what would fill those that it cannot have."""

import pytest
from support.blametraces import Story

from wblab.cli import main
from wblab.foreign import tracepicture
from wblab.foreign.tracepicture import Wanted, draw

MS = 1_000_000


@pytest.fixture
def trace(tmp_path):
    """A database waits 900 ms for a page; of the page cache, nothing was traced."""
    story = Story({100: "postgres", 200: "kworker/u8:1", 0: "swapper"})
    story.switch(0, 0, 100)
    story.submit(10 * MS, 200, 800, 64)
    story.switch(20 * MS, 100, 0, stack=("folio_wait_writeback", "vfs_fsync_range", "__x64_sys_fsync"))
    story.complete(920 * MS, 800, 64)
    story.wake(920 * MS, 0, 100, ("folio_end_writeback", "blk_mq_end_request", "asm_common_interrupt"))
    story.switch(920 * MS, 0, 100)
    story.switch(990 * MS, 100, 200)
    path = tmp_path / "far.dat"
    path.write_bytes(story.encode())
    return path


@pytest.fixture
def drawn(monkeypatch):
    """What would be drawn."""
    found = []
    monkeypatch.setattr(tracepicture, "save", lambda figure, name, output: None)
    monkeypatch.setattr(tracepicture, "picture", found.append)
    return found


def test_it_has_the_panes_of_its_events_and_names_what_lacks(trace, drawn, tmp_path):
    said = draw(trace, tmp_path / "x.png", Wanted())
    (shown,) = drawn
    assert [pane.name for pane in shown.panes] == ["events", "postgres"]
    assert (shown.title.partition(":")[0], shown.since) == ("far.dat", "the trace began")
    assert said[0] == "not drawn: dirty state: no such event is in it: record writeback:global_dirty_state"
    assert [line.partition(": ")[2].partition(":")[0] for line in said] == [
        "dirty state",
        "throttling and rate limits",
        "dirtied, by task",
        "written, by disk",
    ]


def test_a_pane_a_task_and_a_span_are_chosen(trace, drawn, tmp_path):
    draw(trace, tmp_path / "x.png", Wanted(panes="postgres", start_ns=500 * MS))
    (shown,) = drawn
    assert [pane.name for pane in shown.panes] == ["postgres"]
    assert shown.shown_s == (0.5, 0.99)


@pytest.mark.parametrize("form", ["png", "html", "perfetto-trace"])
def test_each_format_is_written_where_one_is(trace, form, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["timeline", "far.dat", "--format", form]) == 0
    out = capsys.readouterr().out.strip()
    assert out == f"far.dat.timeline.{form}"
    assert (tmp_path / out).stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--beside", "latest"], "is a file"),
        (["--task", "mysqld"], "no task 'mysqld'"),
        (["--panes", "dirty"], "no pane 'dirty'"),
        (["--around", "longest", "--from", "1s"], "cannot be combined"),
        (["--from", "20s"], "must lie within"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_line(trace, options, said, capsys):
    assert main(["timeline", str(trace), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_file_that_is_no_trace_is_refused(tmp_path, capsys):
    file = tmp_path / "x.txt"
    file.write_text("MemFree: 5 kB")
    assert main(["timeline", str(file)]) == 2
    assert "is no trace that can be drawn" in capsys.readouterr().err
