"""wblab timeline on the command line."""

import pytest

from wblab.cli import main


@pytest.fixture
def timeline(run, capsys):
    """Return a function that runs the verb on the run and returns its exit code, output and errors."""

    def call(*arguments):
        code = main(["timeline", str(run.path), *arguments])
        return code, *capsys.readouterr()

    return call


def test_a_picture_without_a_trace_gives_the_reason(run, timeline):
    code, output, errors = timeline()
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
        (["-o", "x.gif"], "must end in .png, .svg, .pdf"),
        (["--format", "html", "-o", "x.png"], "does not end in .html"),
        (["--format", "perfetto-trace", "--around", "longest"], "the viewer zooms itself"),
    ],
)
def test_invalid_requests_are_refused_in_one_line(timeline, arguments, message):
    code, output, errors = timeline(*arguments)
    assert (code, output) == (2, "")
    lines = [line for line in errors.splitlines() if "loads alone" not in line]
    assert len(lines) == 1
    assert message in lines[0]
