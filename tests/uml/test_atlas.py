"""wblab study with real runs: a target of a small trial, interrupted before its verdicts."""

import json
from functools import partialmethod

import pytest
from support.trials import short_scenario

from wblab.claims.atlas import triedtarget
from wblab.claims.trial.recommendations import read_wisdom
from wblab.cli import main
from wblab.core.errors import WblabError
from wblab.kernels import list_kernels

SEEDS = 5  # of a recommendation, by default
SHORT = (
    short_scenario("trace.events=[]")
    + """
[[recommendation]]
number = 1
who = "Somebody"
source = "somewhere"
says = "short stops"
value = [{ name = "WBT", queue = { wbt_lat_usec = 75000 } }, { name = "commit=30", mount = ["commit=30"] }]
[[recommendation.expectation]]
says = "nobody is stalled for over an hour"
role = "innocent"
metric = "longest_pause_s"
at_most = "1h"
"""
)


@pytest.fixture
def atlas(lab, tmp_path, capsys):
    """Make the target of the trial on xfs, and return the exit code and the printed JSON."""
    series = lab.kernel.series
    if series not in {listed.series for listed in list_kernels() if listed.kernel}:
        pytest.skip(f"the kernel {series} is not built: wblab kernel build {series}")

    def run():
        which = ("--kernel", series, "--filesystem", "xfs")
        code = main(["study", "atlas", "trial", *which, "-o", str(tmp_path / "atlas"), "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else said.err

    return run


def test_a_trial_target_resumes_where_it_stopped(lab, atlas, tmp_path, monkeypatch):
    (tmp_path / "short.toml").write_text(SHORT)
    monkeypatch.setattr(triedtarget, "read_wisdom", lambda path: read_wisdom(tmp_path / "short.toml"))

    def interrupted(*of):
        raise WblabError("interrupted")

    with monkeypatch.context() as before:
        before.setattr(triedtarget.Tryable, "fill", partialmethod(triedtarget.Tryable.fill, judge=interrupted))
        code, said = atlas()
    assert (code, "interrupted" in said) == (1, True)
    (staged,) = (tmp_path / "atlas").iterdir()
    kept = {path.parent.name: path.stat().st_mtime_ns for path in staged.glob("runs/*/experiment.json")}
    assert len(kept) == 2 * SEEDS  # of the default and of WBT: xfs has no commit=30

    code, said = atlas()
    assert (code, said["made_now"]) == (0, 1)
    (target,) = said["targets"]
    directory = tmp_path / "atlas" / target["target"]
    runs = list(directory.glob("runs/*/*"))
    assert {path.parent.name: path.stat().st_mtime_ns for path in runs} == kept
    assert {path.name for path in runs} == {"experiment.json"}
    assert {json.loads(path.read_text())["spec"]["disk"]["filesystem"] for path in runs} == {"xfs"}
    first, second = json.loads((directory / "target.json").read_text())["rows"]
    assert (first["verdict"], second["verdict"]) == ("reproduced", "not testable")
    assert "unknown option 'commit=30'" in second["why"]
    assert f'href="{directory.name}/report.html#recommendation-1a"' in (tmp_path / "atlas" / "index.html").read_text()
    assert 'href="runs/' in (directory / "report.html").read_text()

    code, said = atlas()
    assert (code, said["made_now"], said["targets"]) == (0, 0, [target])
    assert lab.left_behind() == []
