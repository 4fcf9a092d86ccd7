"""wblab study with real runs: a subset of the claims, few seeds."""

import json

import pytest
from support.lottery import on_its_day

from wblab.claims.sources.registry import WORKS
from wblab.cli import main

CLAIMS = [
    "fills-ext4",
    "openat-ext4",
    "l2-harmless-ext4",
    "flush-bound-ext4",
    "bfq-throttled",
    "live-unthrottled",
    "daemon-cpu",
]


def of_a_day(work):
    """The claims of two works are checked a day."""
    return on_its_day(work, list(WORKS), 2)


@of_a_day("thesis")
def test_claims_are_checked_on_runs_made_for_them(lab, tmp_path, capsys):
    output = tmp_path / "report"
    arguments = ["study", *CLAIMS, "--seeds", "3", "--kernel", str(lab.kernel.path), "-o", str(output), "--json"]
    assert main(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    verdicts = {claim["name"]: claim for claim in printed["claims"]}
    assert set(verdicts) == set(CLAIMS)
    assert verdicts["fills-ext4"]["verdict"] == "reproduced"
    assert 0 < verdicts["fills-ext4"]["effect"]["middle"] < 3
    assert verdicts["live-unthrottled"]["verdict"] == "reproduced"
    assert (verdicts["l2-harmless-ext4"]["verdict"], verdicts["l2-harmless-ext4"]["held"]) == ("not decided", 3)
    assert set(printed["runs"]) == {"ext4", "ext4-bfq", "device"}
    for case in printed["runs"].values():
        assert all((output / run / "experiment.json").is_file() for run in case["directories"])
    assert printed.pop("headline").startswith("Linux ")
    assert printed == {"report": str(output / "report.html")} | json.loads((output / "verdicts.json").read_text())
    assert (output / "report.html").read_text().count("data:image/png;base64,") == 4
    assert lab.left_behind() == []
    assert main(arguments) == 2  # the directory exists already, and nothing is overwritten


@of_a_day("li")
def test_claims_of_another_source_have_their_own_runs_and_report(lab, tmp_path, capsys):
    claims = ["L5-writes-wait", "L6-reads-pass", "L7-no-crossing", "L9-small-above", "L10-large-below", "L22-fsck"]
    output = tmp_path / "report"
    place = ("--seeds", "3", "--kernel", str(lab.kernel.path), "-o", str(output), "--json")
    assert main(["study", "li", *claims, *place]) == 0
    verdicts = {claim["name"]: claim["verdict"] for claim in json.loads(capsys.readouterr().out)["claims"]}
    # Three seeds are too few for a claim that something never happens.
    others = {"L7-no-crossing": "not decided", "L22-fsck": "not testable"}
    assert verdicts == dict.fromkeys(claims, "reproduced") | others
    page = (output / "report.html").read_text()
    assert "Coly Li&#39;s claims on Linux" in page
    assert "<h2>Figures</h2>" not in page
    assert lab.left_behind() == []


def test_a_case_that_cannot_run_makes_only_its_claims_untestable(lab, tmp_path, capsys, monkeypatch):
    def lacking(spec, kernel):
        return {"disk.mirror.model=raid1": "CONFIG_MD_RAID1"} if "mirror" in spec.disk else {}

    monkeypatch.setattr("wblab.host.check.lacking", lacking)
    output = tmp_path / "report"
    options = ("--seeds", "3", "--kernel", str(lab.kernel.path), "-o", str(output), "--json")
    assert main(["study", "li", "L5-writes-wait", "L9-small-above", *options]) == 0
    printed = capsys.readouterr()
    found = {claim["name"]: claim for claim in json.loads(printed.out)["claims"]}
    assert {name: one["verdict"] for name, one in found.items()} == {
        "L5-writes-wait": "not testable",
        "L9-small-above": "reproduced",
    }
    assert found["L5-writes-wait"]["why"].startswith("the case mirror cannot run here: the kernel ")
    assert "wblab: not testable: the case mirror cannot run here: " in printed.err
    assert main(["study", "--resume", str(output), "--kernel", str(lab.kernel.path)]) == 0


@of_a_day("chadd")
def test_claim_programs_run_in_the_guest_and_leave_their_output(lab, tmp_path, capsys):
    claims = ["c16-dirty", "c19-later", "c19-read", "c23-cancel", "c24-writes"]
    place = ("--seeds", "3", "--kernel", str(lab.kernel.path), "-o", str(tmp_path / "report"), "--json")
    assert main(["study", "chadd", *claims, *place]) == 0
    verdicts = {claim["name"]: claim["verdict"] for claim in json.loads(capsys.readouterr().out)["claims"]}
    assert verdicts == dict.fromkeys(claims, "reproduced")
    assert lab.left_behind() == []


@of_a_day("stephens")
def test_the_slope_over_latencies_agrees_with_the_trace(lab, tmp_path, capsys):
    claims = ["S4-series-fsync-ext4", "S4-series-over-ext4", "S4-turns", "S12-twice"]
    place = ("--seeds", "3", "--kernel", str(lab.kernel.path), "-o", str(tmp_path / "report"), "--json")
    assert main(["study", "stephens", *claims, *place]) == 0
    found = {claim["name"]: claim for claim in json.loads(capsys.readouterr().out)["claims"]}
    verdicts = {name: claim["verdict"] for name, claim in found.items()}
    assert verdicts == dict.fromkeys(claims, "reproduced") | {"S12-twice": "not testable"}
    apart = [found[name]["effect"]["middle"] for name in claims[:2]]
    assert apart == pytest.approx([0, 0], abs=0.02)
    assert "the trace has 5 requests" in found[claims[0]]["why"]
    assert lab.left_behind() == []


@of_a_day("chopper")
def test_the_place_of_a_small_file_is_measured_on_another_filesystem(lab, tmp_path, capsys):
    claims = ["H1-far", "H2-far-then", "H3-xfs", "H14-special-end"]
    place = ("--seeds", "5", "--kernel", str(lab.kernel.path), "-o", str(tmp_path / "report"), "--json")
    assert main(["study", "chopper", *claims, *place]) == 0
    found = {claim["name"]: claim for claim in json.loads(capsys.readouterr().out)["claims"]}
    verdicts = [found[name]["verdict"] for name in claims]
    assert verdicts == ["not reproduced", "reproduced", "reproduced", "not reproduced"]
    assert 1 << 10 < found["H2-far-then"]["effect"]["middle"] < 16 << 10  # MiB
    assert lab.left_behind() == []
