"""The command wblab why --prove, with synthetic runs."""

import json
from contextlib import nullcontext

import pytest
from support.blametraces import Story
from support.runs import MS, S, write_run

from wblab.analysis.runs.run import read_run
from wblab.cli import main

MW1 = 7  # the pid of every load in a synthetic run
SPARED = [100 * MS * number for number in range(160)]
PAUSED = [*SPARED[:71], 15 * S, 15 * S + 100 * MS]  # mw1 is stalled from 7 s on
POINT_NS, REMEDY_NS = (
    6 * S,
    2 * S,
)  # stopping l1 earlier than the first, or a remedy earlier than the second, spares mw1


@pytest.fixture
def path(tmp_path, monkeypatch):
    story = Story({MW1: "mw1"}, start_ns=10 * S)
    story.switch(0, MW1, 0, stack=("__schedule", "schedule", "do_nanosleep"))
    story.commit(POINT_NS - MS, MW1, 3)
    others = {
        "w1": [10 * S + 50 * MS * number for number in range(200)],
        "l1": [10 * S + 10 * MS, 15 * S + 10 * MS, 20 * S],
    }

    def write(name, boundaries):
        run = write_run(tmp_path / name, {"mw1": [10 * S + time for time in boundaries], **others})
        (run / "trace.dat").write_bytes(story.encode())
        return run

    def is_spared(spec):
        remedies = [phase.at for phase in spec.phase.values()]
        return spec.load["l1"].until < POINT_NS or (remedies and remedies[0] < REMEDY_NS)

    def make(specs):
        return [read_run(write(spec.name, SPARED if is_spared(spec) else PAUSED)) for spec in specs]

    monkeypatch.setattr("wblab.study.designs.prove.runs.maker", lambda run, results, kernel: nullcontext(make))
    monkeypatch.setattr("wblab.study.designs.prove.trial.loads_differ_s", lambda first, second: None)
    return str(write("run", PAUSED))


def test_prove_prints_verdicts_and_latest_intervention(path, capsys):
    assert main(["why", path, "--prove"]) == 0
    said = capsys.readouterr().out
    assert "pause 1: mw1 was stalled for 7.90 s from 7.000 s on" in said
    assert "without w1: unchanged, 7.90 s" in said
    assert "without l1: gone, 0 s" in said
    (point,) = (line for line in said.splitlines() if "latest effective intervention" in line)
    assert point.startswith("  latest effective intervention: stopping l1 at 5.9")
    assert "before the pause, spares mw1; at 6.0" in point
    at = said.index("  The journal began to commit transaction 3.\n      5.999000 s ")
    assert "jbd2_start_commit" in said[at:]


def test_suspect_option_limits_the_suspects(path, capsys):
    assert main(["why", path, "--prove", "--suspect", "l1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["pause"]["load"], found["pause"]["pause_ns"]) == ("mw1", 7900 * MS)
    (suspect,) = found["suspects"]
    assert suspect["saved"]["at_ns"] < POINT_NS <= suspect["lost"]["at_ns"]
    assert [item["text"] for item in suspect["happened"]] == ["The journal began to commit transaction 3."]
    assert [item["verdict"] for item in suspect["curve"]][:: len(suspect["curve"]) - 1] == ["gone", "unchanged"]


def test_remedy_has_a_verdict_and_a_latest_intervention(path, capsys):
    assert main(["why", path, "--prove", "--remedy", "load.l1.ioclass=idle"]) == 0
    said = capsys.readouterr().out
    assert "without" not in said
    assert "with load.l1.ioclass=idle from the loads' start: gone, 0 s" in said
    (point,) = (line for line in said.splitlines() if "latest effective intervention" in line)
    assert point.startswith("  latest effective intervention: setting it at 1.9")
    assert "before the pause, helps mw1; at 2.0" in point
    assert "  set at       pause\n" in said


def test_remedies_and_suspects_are_tested_together(path, capsys):
    arguments = ("--suspect", "w1", "--remedy", "sysctl.vm.swappiness=1", "--remedy", "load.l1.ioclass=idle")
    assert main(["why", path, "--prove", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [item["lost"]["verdict"] for item in found["suspects"]] == ["unchanged"]
    (remedy,) = found["remedies"]
    assert remedy["saved"]["changed"] == "sysctl.vm.swappiness=1, load.l1.ioclass=idle"


def test_run_without_pause_is_refused(path, capsys):
    assert main(["why", path, "--prove", "--bound", "10s"]) == 2
    assert "--prove: the run has no pause over 10 s" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "value"), [("--suspect", "l1"), ("--remedy", "sysctl.vm.swappiness=1")])
def test_suspect_and_remedy_need_prove(path, capsys, option, value):
    assert main(["why", path, option, value]) == 2
    assert f"{option} {value} needs --prove: add that option" in capsys.readouterr().err


def test_invalid_remedy_is_a_one_line_error(path, capsys):
    assert main(["why", path, "--prove", "--remedy", "load.l1.ioclas=idle"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "unknown key '--remedy.load.l1.ioclas' (did you mean 'ioclass'" in line
