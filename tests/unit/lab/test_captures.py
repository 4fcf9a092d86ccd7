import json
from dataclasses import asdict, replace

import pytest

from wblab.core.errors import InputError
from wblab.lab.captures import CapturedPause, Lost, capture_files, read_captures, write_capture
from wblab.lab.formats import CAPTURE

SAVED = CapturedPause(3, "w1", 10, 20, 8, 22)


def test_a_capture_is_complete_if_it_reaches_back_to_the_pause():
    assert SAVED.whole
    assert not replace(SAVED, start_ns=11).whole


def test_a_capture_with_losses_during_the_pause_is_incomplete(tmp_path):
    lost = replace(SAVED, lost=(Lost(9, 11),))
    assert not lost.whole
    assert replace(SAVED, lost=(Lost(8, 9), Lost(21, 22))).whole  # around it
    write_capture(tmp_path, lost)
    assert read_captures(tmp_path) == [lost]


def test_captures_are_found_where_they_were_saved(tmp_path):
    (tmp_path / SAVED.trace).touch()
    write_capture(tmp_path, SAVED)
    assert read_captures(tmp_path) == [SAVED]
    assert sorted(path.name for path in capture_files(tmp_path)) == ["trace.pause-3.dat", "trace.pause-3.json"]
    content = json.loads((tmp_path / "trace.pause-3.json").read_text())
    assert (content["format"], content["kind"]) == (1, "capture")


@pytest.mark.parametrize(
    "change", [{"number": 4}, {"number": "3"}, {"start_ns": None}, {"other": 1}, {"load": 5}, {"lost": [[1]]}]
)
def test_a_damaged_capture_is_named(tmp_path, change):
    (tmp_path / "trace.pause-3.json").write_text(json.dumps(CAPTURE.head() | asdict(SAVED) | change))
    with pytest.raises(InputError, match=r"trace\.pause-3\.json is damaged"):
        read_captures(tmp_path)
