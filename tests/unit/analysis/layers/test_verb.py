"""wblab why --layers on the command line."""

import json
from pathlib import Path

import pytest
from support.writetraces import FSYNC, WRITE, WriteStory

import wblab
from wblab.cli import main
from wblab.lab.formats import EXPERIMENT

from .conftest import S1
from .test_requests import COMMS, FOLIO, FOLIO_ENDS, slept


@pytest.fixture
def path(story_run):
    story = WriteStory(COMMS)
    story.enter(0, S1, WRITE)
    story.leave(4000, S1, WRITE)
    story.enter(5000, S1, FSYNC)
    story.submit(5000, S1, 1000, 8, inode=13)
    story.issue(5000, S1, 1000, 8)
    story.switch(6000, S1, 0, stack=FOLIO)
    story.complete(10_000, 1000, 8)
    story.hand_over(10_000, 0, S1, FOLIO_ENDS)
    story.leave(10_000, S1, FSYNC)
    return str(story_run(story, 20_000).path)


def rows(path, capsys):
    assert main(["why", "--layers", path]) == 0
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_states_and_waits_are_listed_call_by_call(path, capsys):
    said = rows(path, capsys)
    assert ["s1", "write", "1", "calls", "4.0", "4.0", "4.0", "4.0", "100", "%", "0"] in said
    assert ["s1", "fsync", "1", "calls", "5.0", "5.0", "5.0", "5.0", "100", "%", "1"] in said
    assert ["device", "4.0", "4.0", "4.0", "4.0", "80", "%"] in said
    assert ["s1", "fsync", "folio", "under", "writeback", ">", "device", "4.0", "4.0", "4.0", "4.0"] in said


def test_sums_by_prefix_stand_next_to_shares_of_all_time(path, capsys):
    said = rows(path, capsys)
    assert ["s1", "FS", "4.0", "4.0", "0.0", "100", "%", "44.4", "%", "ext4_sync_file", "4.0"] in said


def test_json_has_every_call(path, capsys):
    assert main(["why", "--layers", path, "--load", "s1", "--json"]) == 0
    write, fsync = json.loads(capsys.readouterr().out)
    assert (write["call"], write["states"]) == ("write", {"cpu": 4000})
    assert (fsync["states"], fsync["served"]) == ({"device": 4000, "cpu": 1000}, 1)
    assert fsync["pieces"] == [
        {"path": ["cpu"], "start_ns": 5000, "end_ns": 6000},
        {"path": ["folio under writeback", "device"], "start_ns": 6000, "end_ns": 10_000},
    ]
    assert sum(fsync["causes"].values()) == fsync["duration_ns"]


def test_instructions_are_counted_where_time_is_theirs(path, capsys):
    assert "instructions" not in rows(path, capsys)[0]
    record = json.loads((Path(path) / EXPERIMENT).read_text())
    (Path(path) / EXPERIMENT).write_text(json.dumps(record | {"machine": {"instruction_ns": 4}}))
    said = rows(path, capsys)
    assert said[0][-1] == "instructions"
    assert ["cpu", "4.0", "4.0", "4.0", "4.0", "100", "%", "1000"] in said
    assert main(["why", "--layers", path, "--json"]) == 0
    assert [call["instructions"] for call in json.loads(capsys.readouterr().out)] == [1000, 250]


def test_a_load_that_does_not_wait_is_refused(story_run, capsys):
    story = WriteStory(COMMS)
    slept(story, 0, 100, FOLIO, FOLIO_ENDS)
    path = str(story_run(story, 1000).path)
    assert main(["why", "--layers", path, "--load", "s3"]) == 2
    assert "no load 's3'" in capsys.readouterr().err


def test_programs_get_them_as_tables_and_pictures(path):
    found = wblab.read(path).layers()
    assert [call.call for call in found] == ["write", "fsync"]
    assert found.states.loc[("s1", "fsync", "device"), ["median_us", "share"]].tolist() == [4.0, 0.8]
    assert found.paths.loc[("fsync", "folio under writeback > device"), "time_us"] == 4.0
    assert found.prefixes.loc["FS", "summed_us"] == 4.0
    assert found.only("write").paths.index.tolist() == [("write", "cpu")]
    assert len(found.plot().patches) == 4
    assert found.plot_chain().get_xlabel() == "time since the write began (µs)"
