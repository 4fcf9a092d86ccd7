"""The artifact's steps: the page shows them, and they can fail."""

import json
import shlex
import subprocess
from dataclasses import replace

import artifact
import pytest
from artifact import STEPS, FailedError, UndecidedError

from wblab.cli import build_parser
from wblab.lab.places import ROOT

BY_NAME = {step.name: step for step in STEPS}


def test_the_page_has_the_steps():
    lines = artifact.PAGE.read_text().splitlines()
    assert [line for line in lines if line.startswith("| `")] == artifact.rows()


def test_it_takes_half_an_hour():
    assert sum(step.minutes for step in STEPS) <= 30


@pytest.mark.parametrize("words", [words for step in STEPS for words in step.commands])
def test_its_commands_are_understood(words, tmp_path):
    build_parser().parse_args(artifact.command(words, tmp_path)[3:])
    assert shlex.split(words)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("stall", 23.74, 10.0),
        ("remedy", 0.66, 23.7),
    ],
)
def test_figures_have_a_tolerance(name, good, bad):
    def output(seconds):
        return json.dumps(
            {"loads": [{"name": "w1", "longest_pause_s": seconds}, {"name": "l1", "longest_pause_s": 99}]}
        )

    assert BY_NAME[name].check(output(good)) == f"{good:.2f} s"
    with pytest.raises(FailedError, match=f"{bad:.2f} s"):
        BY_NAME[name].check(output(bad))


def statements(*holds):
    return json.dumps({"statements": [{"holds": one} for one in holds]})


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("repeat", "Identical: every cycle of every load, and every event.\n", "a\nb\nload w1, boundary 3\n"),
        ("machines", "7.2    base  identical\n" * 6, "7.2    base  identical\n" * 5 + "7.2    base  differs: w1\n"),
        ("machines", "7.2    base  identical\n" * 6, "7.2    base  stale: recorded with another version of x\n" * 6),
        ("machines", "7.2    base  identical\n" * 6, ""),
        ("finding", statements(True, True), statements(True, False)),
        ("finding", statements(True), statements()),
        ("hand-on", "Identical: every cycle of every load, and every event.\n", "The runs differ.\n"),
    ],
)
def test_texts_are_checked(name, good, bad):
    assert BY_NAME[name].check(good)
    with pytest.raises(FailedError):
        BY_NAME[name].check(bad)


def test_other_tools_leave_open_whether_machines_give_the_same_bytes():
    other = "7.2    base  other inputs (the compiler): 20 figures within the intervals\n"
    for output, same in ((other * 6, 0), (other + "7.2    base  identical\n" * 5, 5)):
        with pytest.raises(UndecidedError, match=f"^{same} of 6 identical, and .* with other inputs: the compiler"):
            BY_NAME["machines"].check(output)


def test_verdicts_are_compared_with_those_that_were_measured():
    claims = [{"name": name, "verdict": verdict} for name, verdict in artifact.measured_verdicts().items()]
    assert len(claims) > 40
    check = BY_NAME["thesis"].check
    assert check(json.dumps({"claims": claims})) == f"{len(claims)} of {len(claims)} verdicts the same"
    first = next(claim for claim in claims if claim["verdict"] == "reproduced")
    turned = [claim | {"verdict": "not reproduced"} if claim is first else claim for claim in claims]
    for changed in (turned, [claim for claim in claims if claim is not first], []):
        with pytest.raises(FailedError, match=first["name"]):
            check(json.dumps({"claims": changed}))
    undecided = [claim | {"verdict": "not decided"} if claim is first else claim for claim in claims]
    assert check(json.dumps({"claims": undecided})).startswith(f"{len(claims) - 1} of ")


def test_success_and_failure_are_logged_and_the_others_go_on(tmp_path, monkeypatch, capsys):
    outputs = {"good": ("Identical\n", 0), "other": ("different\n", 0), "broken": ("", 2), "form": ("{}", 0)}

    def run(command, **options):
        output, code = outputs[command[3]]
        return subprocess.CompletedProcess(command, code, output, "wblab: it broke\n" if code else "")

    monkeypatch.setattr("artifact.subprocess.run", run)
    steps = [replace(BY_NAME["repeat"], name=name, commands=(name,)) for name in ("good", "other", "broken")]
    steps += [replace(BY_NAME["stall"], name="form", commands=("form",))]
    assert artifact.main([], steps, tmp_path / "exp", tmp_path / "log") == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["holds", "FAILS", "FAILS", "FAILS", "1"]
    log = (tmp_path / "log").read_text()
    assert "wblab broken: exit code 2: wblab: it broke" in log
    assert log.count("    expected: ") == 4
    assert artifact.main(["good"], steps, tmp_path / "exp", tmp_path / "log") == 0
    assert artifact.main(["no-such"], steps, tmp_path / "exp", tmp_path / "log") == 2


def test_the_make_target_runs_it():
    assert "docs/artifact.py" in (ROOT / "Makefile").read_text()
