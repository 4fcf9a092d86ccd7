"""What `wblab study` is given decides its design."""

import json

import pytest

from wblab.cli import build_parser, main
from wblab.commands.common import asked_of
from wblab.study.asked import StudyRequest
from wblab.study.subject import subject


@pytest.mark.parametrize(
    ("text", "design"),
    [
        ('base = "base"\nseeds = 3\n', "matrix"),  # of one cell
        ('base = "base"\n[axes]\nseed = [1, 2]\n', "matrix"),
        ('extends = "two-disks"\n', "matrix"),
        ('base = "base"\n[factors.a]\n', "explore"),
        ("[[recommendation]]\nnumber = 1\n", "trial"),
        ('memory = "300MiB"\n', "witness"),  # a spec
    ],
)
def test_a_file_is_known_by_its_keys(text, design, tmp_path):
    (tmp_path / "a.toml").write_text(text)
    assert subject(StudyRequest(results=tmp_path, what=str(tmp_path / "a.toml")))[0] == design


def test_a_file_that_lies_here_does_not_take_the_place_of_a_claim(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fills-ext2").write_text('memory = "300MiB"\n')
    found, asked = subject(StudyRequest(results=tmp_path, what="fills-ext2"))
    assert (found, asked.parts) == ("verify", ("fills-ext2",))


def study(place, design):
    (place / "study").mkdir(parents=True)
    (place / "study" / "study.json").write_text(json.dumps({"format": 1, "kind": "study", "design": design}))


@pytest.mark.parametrize(
    ("design", "line"), [("ab", "wblab study --kernels --resume"), ("bisect", "wblab bisect --resume")]
)
def test_a_study_that_another_line_resumes_is_refused_with_that_line(design, line, tmp_path, capsys):
    study(tmp_path, design)
    for words in (["--resume", "study"], ["study"]):
        assert main(["study", *words, "--exp", str(tmp_path)]) == 2
        said = capsys.readouterr().err
        assert f"{line} " in said
        assert said.count("\n") == 1


def test_a_finding_that_is_updated_resumes_with_its_parts(tmp_path):
    study(tmp_path, "finding")
    words = ["study", "--update", "jbod", "metadata", "--resume", "study", "--exp", str(tmp_path)]
    design, asked = subject(asked_of(build_parser().parse_args(words), StudyRequest))
    assert (design, asked.what, asked.parts) == ("finding", "", ("jbod", "metadata"))


@pytest.mark.parametrize(
    ("design", "words", "said"),
    [
        ("matrix", ["--seeds", "3", "--keep", "digests"], "leave --seeds and --keep out"),
        ("verification", ["--evidence"], "--evidence is for exploration, and this is verification"),
        ("twin", ["--disk", "x"], "leave --disk out"),
    ],
)
def test_a_resumed_study_keeps_its_plan(design, words, said, tmp_path, capsys):
    study(tmp_path, {"verification": "verify"}.get(design, design))
    assert main(["study", "--resume", "study", *words, "--exp", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
