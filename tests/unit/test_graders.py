"""The examples of hidden tests in misc/graders: their own code, on folders that were handed in, without a grader."""

import json
import os
import sys

import pytest
from support.graders import GRADERS, hidden_tests, imported

from wblab.lessons.lesson import find, lessons

LESSON = find("02-lock-up", lessons())
QUESTIONS = [name for name, question in LESSON.question.items() if question.kind != "predict"]
# Notes how it was called; a check takes an answer for right if it says so.
WBLAB = """#!{python}
import json, sys, tomllib
from pathlib import Path

given = dict(word[2:].split("=", 1) for word in sys.argv[1:] if "=" in word)
folder = Path(given["dir"])
verb, lesson = sys.argv[2:4]
with open({log!r}, "a") as log:
    print(verb, given.get("student"), given.get("course"), sorted(path.name for path in folder.rglob("*")), file=log)
if verb == "start":
    (folder / lesson).mkdir(parents=True)
    for name in ("answer.toml", "polite.toml", "spec.toml"):
        (folder / lesson / name).write_text("new = 1")
    sys.exit()
answers = tomllib.loads((folder / lesson / "answer.toml").read_text())
assert (folder / lesson / "spec.toml").read_text() == "new = 1"
if "fails" in answers:
    sys.exit("wblab: no kernel")
judged = [dict(question=name, outcome=outcome, says="it says " + outcome) for name, outcome in answers.items()]
print(json.dumps(dict(answers=judged)))
"""


@pytest.fixture
def wblab(tmp_path, monkeypatch):
    """Return the lines that a wblab writes which knows no kernel."""
    program, log = tmp_path / "wblab", tmp_path / "log"
    program.write_text(WBLAB.format(python=sys.executable, log=str(log)))
    program.chmod(0o700)
    monkeypatch.setenv("WBLAB", str(program))
    return lambda: log.read_text().splitlines()


@pytest.fixture
def hand_in(tmp_path, monkeypatch, wblab):
    """Return what writes a submission, in which the tests then run."""
    monkeypatch.syspath_prepend(str(GRADERS))

    def write(**outcomes):
        place = tmp_path / "submission/my-lessons/02-lock-up"
        place.mkdir(parents=True)
        (place.parent / "progress.json").write_text(json.dumps({"student": "ada", "set": "/mine"}))
        outcomes = dict.fromkeys(QUESTIONS, "right") | outcomes
        (place / "answer.toml").write_text("".join(f'{name} = "{value}"\n' for name, value in outcomes.items()))
        (place / "polite.toml").write_text("")
        (place / "spec.toml").write_text("of the student")
        monkeypatch.chdir(tmp_path / "submission")
        return place

    with imported("lesson_check"):
        yield write


@pytest.mark.parametrize("grader", ["otter", "nbgrader"])
def test_each_question_has_a_hidden_test_of_its_own(grader, hand_in):
    hand_in(longest="wrong", why="missing")
    tests = hidden_tests(grader)
    assert list(tests) == QUESTIONS
    failed = {}
    for name, test in tests.items():
        try:
            test()
        except AssertionError as error:
            failed[name] = str(error)
    assert failed == {"longest": "longest: it says wrong", "why": "why: it says missing"}


def test_one_check_serves_all_questions_and_takes_only_answers(hand_in, wblab):
    place = hand_in()
    (place.parent / "exp").mkdir()
    for test in hidden_tests("otter").values():
        test()
    started, checked = wblab()
    assert started == "start ada os-2027 []"
    assert checked == "check None None ['02-lock-up', 'answer.toml', 'polite.toml', 'spec.toml']"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda place: (place.parent / "progress.json").unlink(), "cannot read .*progress.json"),
        (lambda place: (place.parent / "progress.json").write_text("[]"), "names no student"),
        (lambda place: (place / "answer.toml").write_bytes(b"\xff"), "cannot read .*answer.toml"),
        (lambda place: (place / "answer.toml").write_bytes(bytes(1 << 17)), "at most 64 KiB"),
        (lambda place: (place / "answer.toml").rename(place / "it"), "cannot read .*answer.toml"),
        (lambda place: os.mkfifo(place / "it") or (place / "it").replace(place / "answer.toml"), "at most 64 KiB"),
        (lambda place: (place / "polite.toml").unlink() or (place / "polite.toml").symlink_to("it"), "cannot read"),
        (lambda place: (place / "answer.toml").write_text("fails = 1"), "wblab: no kernel"),
        (lambda place: (place / "answer.toml").write_text('expect_longest = "missing"'), "expect_longest: it says"),
    ],
)
def test_a_damaged_folder_fails_with_the_reason(damage, says, hand_in):
    damage(hand_in())
    for test in hidden_tests("nbgrader").values():
        with pytest.raises(AssertionError, match=says):
            test()


def test_a_grader_without_the_lab_says_so(hand_in, monkeypatch):
    hand_in()
    monkeypatch.setenv("WBLAB", "/nonexistent/wblab")
    with pytest.raises(AssertionError, match=r"cannot grade: .*/nonexistent/wblab"):
        hidden_tests("otter")["longest"]()
