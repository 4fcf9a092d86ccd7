import json

import pytest

from wblab.analysis.runs.captures import capture_of, captures
from wblab.analysis.runs.pauses import Window
from wblab.analysis.runs.run import read_run
from wblab.core.errors import InputError
from wblab.lab.formats import CAPTURE

MS = 1_000_000


@pytest.fixture
def run(make_run):
    return read_run(make_run({"c1": [0, 50 * MS], "w1": [0, 900 * MS]}))


@pytest.fixture
def saved(run):
    """Save a capture of a span in ms."""

    def save(number, start_ms, end_ms, *lost_ms):
        said = {"number": number, "load": "w1", "pause_start_ns": start_ms * MS, "pause_end_ns": end_ms * MS}
        said |= {"start_ns": start_ms * MS, "end_ns": end_ms * MS}
        if lost_ms:
            said |= {"lost": [{"start_ns": start * MS, "end_ns": end * MS} for start, end in lost_ms]}
        (run.path / f"trace.pause-{number}.json").write_text(json.dumps(CAPTURE.head() | said))

    return save


def test_captures_come_in_the_order_of_time(run, saved):
    assert captures(run) == []
    saved(2, 500, 900)
    saved(10, 100, 200)
    assert [item.path.name for item in captures(run)] == ["trace.pause-10.dat", "trace.pause-2.dat"]


@pytest.mark.parametrize(
    ("window", "name"),
    [((100, 200), "trace.pause-1.dat"), ((150, 300), None), ((400, 900), "trace.pause-2.dat"), ((0, 1000), None)],
)
def test_a_window_is_drawn_from_the_capture_that_covers_half_of_it(run, saved, window, name):
    saved(1, 100, 220)
    saved(2, 500, 900)
    found = capture_of(run, Window(window[0] * MS, window[1] * MS))
    assert (found.path.name if found else None) == name


def test_lost_spans_are_not_covered(run, saved):
    """Spans of several processors overlap; their common part counts once."""
    saved(1, 100, 900, (450, 600), (200, 500), (0, 120), (250, 300))
    (capture,) = captures(run)
    assert capture.known_ns(Window(0, 1000 * MS)) == (800 - 20 - 400) * MS
    assert capture.known_ns(Window(550 * MS, 700 * MS)) == 100 * MS
    assert capture.known_ns(Window(1000 * MS, 1100 * MS)) == 0
    saved(2, 400, 900)
    found = capture_of(run, Window(300 * MS, 800 * MS))
    assert found
    assert found.path.name == "trace.pause-2.dat"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"start_ns": "x"}'])
def test_a_damaged_capture_is_named(run, text):
    (run.path / "trace.pause-1.json").write_text(text)
    with pytest.raises(InputError, match=r"trace\.pause-1\.json (is damaged|has format None)"):
        captures(run)
