"""The directory of a bisection may belong to somebody else, so it cannot decide some things."""

from wblab.cli import main
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.designs.bisect.measuring import Metric
from wblab.study.designs.bisect.repository import GitCommit
from wblab.study.designs.bisect.result import BisectedFigure
from wblab.study.designs.bisect.run import new_store


def test_only_the_command_line_chooses_the_tree_to_build(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    good, bad = (GitCommit(letter * 40, "Ann", "2026-11-21", "a change") for letter in "ab")
    question = BisectedFigure(
        tmp_path / "theirs", good, bad, Metric("mw1", "longest_pause_s"), read_spec(SPECS.find("base")), 3
    )
    directory = tmp_path / "exp"
    directory.mkdir()
    directory = new_store(question, directory).path
    assert main(["bisect", "--resume", str(directory)]) == 2
    said = capsys.readouterr().err
    assert f"builds commits of {tmp_path / 'theirs'}, and a build runs its programs: if you trust it, " in said
    assert said.endswith(f"--tree {tmp_path / 'theirs'}\n")
