"""wblab why on the command line."""

import json

import pytest
from matplotlib.figure import Figure
from support.blametraces import Story
from support.runs import MS

import wblab
from wblab.cli import main

from .conftest import MW1
from .test_explain import COMMS, NAP, NAP_ENDS, SHADOW, SHADOW_ENDS, blocked


@pytest.fixture
def path(story_run):
    story = Story(COMMS)
    story.wait_for_block(0, MW1, 276)
    for start in (0, 700):
        blocked(story, start, start + 600, SHADOW, SHADOW_ENDS)
        blocked(story, start + 600, start + 700, NAP, NAP_ENDS)
    run, _ = story_run(story, [0, 700 * MS, 1400 * MS])
    return str(run.path)


def test_the_answer_comes_first_and_each_cause_has_one_sentence(path, capsys):
    assert main(["why", path]) == 0
    said = capsys.readouterr().out
    first, _, answer, *_ = said.split("\n")
    assert first.startswith("Run run: base, seed 1")
    assert answer.startswith("mail mw1 was stalled twice in openat(), for up to 600 ms: ")
    assert said.count(" was stalled for 600 ms") == 1
    assert "sys_openat > __ext4_new_inode" not in said
    assert f"wblab timeline {path} --from 0.000s --to 0.700s" in said
    assert f"wblab why {path} --evidence" in said


def test_pauses_are_described_with_their_evidence(path, capsys):
    assert main(["why", path, "--evidence"]) == 0
    said = capsys.readouterr().out
    assert "1. mw1 was stalled for 600 ms in the cycle that began at 0.000 s." in said
    assert "in openat() to change a block that the journal was writing (block 276, inode bitmap or" in said
    assert "sys_openat > __ext4_new_inode > do_get_write_access" in said
    assert "0.000000 s CPU0 mw1-7 block_buffer_wait: " in said


def test_a_single_pause_can_be_chosen(path, capsys):
    assert main(["why", path, "--pause", "2"]) == 0
    said = capsys.readouterr().out
    assert "2. mw1 was stalled" in said
    assert "1. mw1" not in said


def test_json_has_parts_that_add_up_and_the_events(path, capsys):
    assert main(["why", path, "--json", "--load", "mw1"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert sum(first["parts"].values()) == first["pause_ns"] == 600 * MS
    assert (second["number"], second["unknown_ns"], second["blame"]) == (2, 0, "writeback")
    assert any("sched_waking" in event for event in first["causes"][0]["events"])


def test_a_run_without_pauses_says_so(path, capsys):
    assert main(["why", path, "--bound", "2s"]) == 0
    assert capsys.readouterr().out.endswith(".\nNo pause over 2 s.\n")


def test_the_verb_pauses_shows_causes(path, capsys):
    assert main(["why", "--pauses", path, "--causes"]) == 0
    assert "mw1   journal writes block  1.20 s  100 %" in capsys.readouterr().out
    assert main(["why", "--pauses", path, "--causes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["causes_ns"] == {"mw1": {"journal writes block": 1200 * MS}}
    assert main(["why", "--pauses", path, "--json"]) == 0
    assert "causes_ns" not in json.loads(capsys.readouterr().out)


def test_a_run_of_another_kernel_is_not_tried_and_says_so(path, capsys):
    assert main(["why", path]) == 0
    assert "\nNot tried: " in (said := capsys.readouterr().out)
    assert "So no cause is certain here.\n" in said
    assert main(["why", path, "--json"]) == 0
    first, _ = json.loads(capsys.readouterr().out)
    assert (first["tried"]["finding"], first["tried"]["trials"]) == ("undecided", [])


def test_trials_can_be_left_out(path, capsys):
    assert main(["why", path, "--no-try"]) == 0
    assert "ried" not in capsys.readouterr().out
    assert main(["why", path, "--no-try", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["tried"] is None


def test_an_unknown_pause_is_refused(path, capsys):
    assert main(["why", path, "--pause", "3"]) == 2
    assert "--pause 3: the run has 2 pauses over 300 ms" in capsys.readouterr().err


@pytest.fixture
def why(path):
    return wblab.read(path).why()


def test_the_answer_is_a_sentence_and_each_pause_a_row(why):
    assert why.answer.startswith("mail mw1 was stalled twice in openat(), for up to 600 ms: ")
    assert why.pauses[["start_s", "load", "cause"]].values.tolist() == [
        [0.0, "mw1", "journal writes block"],
        [0.7, "mw1", "journal writes block"],
    ]
    assert why.causes.loc[("mw1", "journal writes block")].tolist() == [1.2, 1.0]
    assert (len(why), len(why[1:]), why.longest.duration_s) == (2, 1, 0.6)


def test_a_pause_is_taken_apart(why):
    pause = why[0]
    assert pause.parts["time_s"].sum() == pytest.approx(pause.duration_s)
    assert "to change a block that the journal was writing (block 276" in pause.said()
    assert "do_get_write_access" in pause.stacks()["sleeper"].tolist()
    assert pause.stacks()["waker"].iloc[-1] == ""
    assert pause.events()["event"].iloc[0] == "block_buffer_wait"
    assert pause.chains["time_s"].sum() == pytest.approx(0.6)


def test_it_shows_and_prints_itself(why, tmp_path):
    assert why.answer in str(why)
    assert why.answer.replace(">", "&gt;") in why._repr_html_()
    assert why[0].said().splitlines()[0] in str(why[0])
    ax = Figure().add_subplot()
    assert why.plot(ax=ax) is ax
    assert "journal writes block" in why.save(tmp_path / "why.html").read_text()


def test_without_pauses_it_says_so(path):
    none = wblab.read(path).why(bound_s=2)
    assert (len(none), str(none)) == (0, "No pause over 2 s.")
    assert none.pauses.columns.tolist()[0] == "start_s"
    with pytest.raises(wblab.InputError, match="no load 'w7'"):
        wblab.read(path).why("w7")
