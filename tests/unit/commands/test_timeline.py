"""wblab timeline on the command line."""

import re

import pytest

from wblab.cli import main
from wblab.plot.timeline import chosen
from wblab.plot.timeline import timeline as drawn


@pytest.fixture
def timeline(run, capsys):
    """Return a function that runs the verb on the run and returns its exit code, output and errors."""

    def call(*arguments):
        code = main(["timeline", str(run.path), *arguments])
        return code, *capsys.readouterr()

    return call


def test_lanes_need_no_trace_and_panes_without_one_give_the_reason(run, timeline):
    assert timeline() == (0, f"{run.path / 'timeline.png'}\n", "")
    code, output, errors = timeline("--panes", "all")
    assert (code, output.strip()) == (0, str(run.path / "timeline.png"))
    assert (run.path / "timeline.png").read_bytes().startswith(b"\x89PNG")
    assert errors.startswith("wblab: the timeline shows only the loads: cannot read")
    assert "the run failed before it" in errors


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--from", "1s", "--to", "2.5s"], "timeline-1.00s-2.50s.png"),
        (["--from", "1s"], "timeline-1.00s-8.00s.png"),
        (["--around", "longest"], "timeline-0.00s-2.30s.png"),
        (["--around", "w1", "--format", "html"], "timeline-0.00s-0.55s.html"),
        (["--format", "html"], "timeline.html"),
        (["--format", "svg"], "timeline.svg"),
    ],
)
def test_names_of_close_ups_and_pages(run, timeline, arguments, name):
    code, output, _ = timeline(*arguments)
    assert (code, output.strip()) == (0, str(run.path / name))
    assert (run.path / name).stat().st_size > 1000


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".html"])
def test_the_suffix_decides_the_format(timeline, tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    assert timeline("-o", str(path))[0] == 0
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>"}
    assert path.read_bytes().startswith(starts[suffix])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--around", "mw2"], "no load 'mw2'"),
        (["--around", "mw1", "--from", "1s"], "give one or the other"),
        (["--from", "9s"], "lasts 8.00 s"),
        (["--from", "3s", "--to", "1s"], "--from must be before --to"),
        (["--from", "soon"], "'soon' is not understood"),
        (["--panes", "w1,mv1"], "no pane 'mv1'"),
        (["--panes", "all", "--beside", "x"], "--beside x: only lanes have it"),
        (["--format", "html", "--title", "x"], "--title x: only lanes have it"),
        (["--title", "a", "--title", "b"], "--title b: 1 run is drawn"),
        (["--beside", "nothing-there"], "no run 'nothing-there'"),
        (["-o", "x.gif"], "must end in .png, .svg, .pdf"),
        (["--format", "html", "-o", "x.png"], "does not end in .html"),
        (["--format", "perfetto-trace", "--around", "longest"], "the viewer zooms itself"),
    ],
)
def test_invalid_requests_are_refused_in_one_line(timeline, arguments, message):
    code, output, errors = timeline(*arguments)
    assert (code, output) == (2, "")
    lines = [line for line in errors.splitlines() if "shows only the loads" not in line]
    assert len(lines) == 1
    assert message in lines[0]


def test_runs_are_drawn_below_each_other_with_what_differs_as_their_titles(run, timeline, tmp_path):
    alone, both = tmp_path / "alone.svg", tmp_path / "both.svg"
    assert timeline("-o", str(alone))[0] == 0
    assert timeline("--beside", str(run.path), "-o", str(both))[0] == 0
    height = [float(re.search(r'height="([\d.]+)pt"', path.read_text()).group(1)) for path in (alone, both)]
    assert height[1] > height[0]


def test_panes_are_chosen_by_the_beginning_of_their_names(run):
    whole = drawn(run)
    assert [pane.name for pane in chosen(whole, "mw1,w").panes] == ["w1", "mw1"]
    assert chosen(whole, "w1,all").panes == list(whole.panes)
    assert chosen(whole, "").panes == list(whole.panes)
