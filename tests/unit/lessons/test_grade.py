"""A class is graded: right, wrong, missing, copied and hostile folders."""

import csv
import json
import os
from dataclasses import replace
from io import StringIO
from xml.etree import ElementTree

import pytest
import tomli_w
from support.closed import as_ordinary_user, room

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.lab.progress import silent
from wblab.lessons import classmarks
from wblab.lessons.folder import ANSWER, PROGRESS, Folder, LessonState
from wblab.lessons.grade import Graded, Submission, grade, with_notes
from wblab.lessons.judge import JudgedAnswer
from wblab.lessons.lesson import TEMPLATE, read_lesson
from wblab.lessons.student import Student

LESSON = read_lesson(TEMPLATE)
HEAD = b'{"format": 1, "kind": "lesson", '


@pytest.fixture
def handed_in(tmp_path):
    """Return what writes a folder: a student's name, the answers, and what progress.json says besides."""

    def write(name, folder="", **answers):
        student = Student(name, "course")
        where = Folder(tmp_path / (folder or name))
        where.start(LESSON, student)
        right = float(student.values(LESSON)["size"]) / 10
        (where.of(LESSON) / ANSWER).write_text(tomli_w.dumps({"expect": 1, "longest": right} | answers))
        where.keep(LessonState(name, "course").with_progress(LESSON, digest=f"digest {student.seed_of(LESSON)}"))
        return where.path

    return write


@pytest.fixture
def graded(make):
    return lambda *paths: grade([Submission(path) for path in paths], [LESSON], make, 2, silent)


def test_right_wrong_and_missing_answers_are_told_apart(handed_in, graded):
    found = graded(handed_in("ada"), handed_in("bob", longest=0.1), handed_in("eve", longest=""))
    assert [(one.points, len(one.counted), one.note, one.failed) for one in found] == [
        (1, 1, "", False),
        (0, 1, "", False),
        (0, 1, "", False),
    ]
    assert [one.judged[1].outcome for one in found] == ["right", "wrong", "missing"]


def test_a_copied_run_and_a_second_folder_of_a_student_are_shown(handed_in, graded):
    ada, bob, again = handed_in("ada"), handed_in("bob"), handed_in("ada", "twice")
    own, copied = (f"digest {Student(name, 'course').seed_of(LESSON)}" for name in ("bob", "ada"))
    (bob / PROGRESS).write_text((bob / PROGRESS).read_text().replace(own, copied))
    notes = [one.note for one in graded(ada, bob, again)]
    assert notes[0] == f"{again} has the same student, ada"
    assert notes[1].startswith("the recorded run is that of ")
    assert notes[2] == f"{ada} has the same student, ada"


def test_a_lecturer_decides_the_course(handed_in, make):
    path = handed_in("ada")
    (found,) = grade([Submission(path, "other")], [LESSON], make, 1, silent)
    assert found.student == Student("ada", "other")
    assert found.note == "the recorded run is not the one made here; its folder does not say what it was made with"


@pytest.mark.parametrize(
    ("recorded_with", "says"),
    [
        ({"kernel builds": "b"}, "not the one made here: it was made with other kernel builds"),
        ({"numbers": "1"}, "not the one made here: it was made with other numbers"),
        ({}, "not the one made here, though it was made with the same inputs: was progress.json changed?"),
    ],
)
def test_only_what_was_examined_is_a_reason_for_another_run(handed_in, graded, recorded_with, says):
    path = handed_in("ada")
    folder, state = Folder(path), Folder(path).state()
    here = {"numbers": str(Student("ada", "course").seed_of(LESSON)), "kernel builds": "a"}
    folder.keep(state.with_progress(LESSON, digest="other", made_with=here | recorded_with))
    (found,) = graded(path)
    assert found.note == f"the recorded run is {says}"


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        (PROGRESS, HEAD + b'"student": 1}', "student must be a string"),
        (PROGRESS, b"\xff", "is damaged"),
        (PROGRESS, HEAD + b'"student": "a", "home": "/etc"}', "unknown key 'home'"),
        (PROGRESS, b"[" * 70000, "it is nested too deeply"),
        (ANSWER, b"[longest", "is not TOML"),
        (ANSWER, b'longest = "\xff"', "is not UTF-8 text"),
        (ANSWER, b'other = "1"', "no question 'other' in this lesson"),
    ],
)
def test_a_damaged_folder_is_a_note_and_leaves_the_others(handed_in, graded, file, content, says):
    bad, good = handed_in("bad"), handed_in("good")
    (bad / ("" if file == PROGRESS else LESSON.name) / file).write_bytes(content)
    first, second = graded(bad, good)
    assert first.failed
    assert says in first.note
    assert (second.points, second.failed) == (1, False)


def test_a_closed_folder_is_a_note_and_leaves_the_others(handed_in, graded):
    with room() as place:
        ada, bob, cleo, dora = (handed_in(name, place / name) for name in ("ada", "bob", "cleo", "dora"))
        for path in place.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        for path in (ada, bob / LESSON.name, cleo / PROGRESS):
            path.chmod(0)
        with as_ordinary_user():
            found = graded(ada, bob, cleo, dora)
    assert [one.failed for one in found] == [True, True, True, False]
    assert ["Permission denied" in one.note for one in found] == [True, True, True, False]
    assert found[3].points == 1


def test_no_link_of_a_folder_is_followed(handed_in, graded, tmp_path):
    (tmp_path / "secret").write_text('longest = "secret"')
    answers, directory, state = (handed_in(name) for name in ("one", "two", "three"))
    (answers / LESSON.name / ANSWER).unlink()
    (answers / LESSON.name / ANSWER).symlink_to(tmp_path / "secret")
    os.rename(directory / LESSON.name, tmp_path / "elsewhere")
    (directory / LESSON.name).symlink_to(tmp_path / "elsewhere")
    os.rename(state / PROGRESS, tmp_path / PROGRESS)
    (state / PROGRESS).symlink_to(tmp_path / PROGRESS)
    notes = [one.note for one in graded(answers, directory, state)]
    assert "it is a link, which is not followed" in notes[0]
    assert notes[1] == "no lesson was begun"
    assert "link" in notes[2]


@pytest.mark.parametrize("answer", ["x" * 60000, [[["a"]]], {"a": 1}, float("inf"), "\x1b[2J", True])
def test_hostile_answers_are_wrong_and_printable(handed_in, graded, answer):
    (found,) = graded(handed_in("mallory", longest=answer))
    says = found.judged[1].says
    assert found.judged[1].outcome == "wrong"
    assert len(says) < 200
    assert "\x1b" not in says


def test_names_are_cells_and_no_formulas(handed_in, graded):
    found = graded(handed_in("=cmd()", "one"), handed_in("a\nb\x1b", "two"))
    rows = list(csv.DictReader(StringIO(classmarks.as_csv(found))))
    assert {row["student"] for row in rows} == {"'=cmd()", "a\\nb\\x1b"}
    assert len(ElementTree.fromstring(classmarks.as_junit(found))) == 2


@pytest.mark.parametrize("text", ["=1+1", "\uff1d1+1", "\uff0d1", "@a", "+1", "a;=1+1", "a; -1", "a;\uff201"])
def test_no_cell_is_a_formula_whatever_separates_cells(text):
    (row,) = csv.reader(StringIO(classmarks.as_csv([Graded(text, Student("a"), "l")]).splitlines()[1]))
    for cell in (part for separator in (",", ";") for part in row[0].split(separator)):
        assert not cell.strip().startswith(("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"))


def test_a_name_too_long_for_a_line_is_a_note(handed_in, graded, tmp_path):
    path = handed_in("ada")
    text = (path / PROGRESS).read_text()
    (path / PROGRESS).write_text(text.replace('"ada"', json.dumps("a" * 500)))
    (found,) = graded(path)
    assert found.failed
    assert "the name has 500 letters, more than 100: shorten it" in found.note
    assert main(["lesson", "start", "1", "--student", "a" * 101, "--dir", str(tmp_path / "new")]) == 2


def test_marks_have_a_case_for_each_question(handed_in, graded):
    good, bad = handed_in("ada"), handed_in("bob", longest=0.1)
    (bad / "none").mkdir()
    found = graded(good, bad, bad / "none")
    suites = list(ElementTree.fromstring(classmarks.as_junit(found)))
    counts = [[suite.get(key) for key in ("tests", "failures", "errors", "skipped")] for suite in suites]
    assert counts == [["2", "0", "0", "1"], ["2", "1", "0", "1"], ["1", "0", "1", "0"]]
    scope = json.loads(classmarks.as_gradescope(found[:1]))
    assert scope["score"] == 1
    assert scope["tests"][0]["name"] == f"{LESSON.name}: longest"
    assert json.loads(classmarks.as_gradescope(found[2:]))["tests"][0]["status"] == "failed"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("longest = 30 s", 'line 2: write the value between quotes: longest = "30 s"'),
        ("longest = 1.3s  # about", 'line 2: write the value between quotes: longest = "1.3s"'),
        ('longest = "1.3', 'line 2: write the value between quotes: longest = "1.3"'),
        ("longest = \u201c1.3 s\u201d", 'line 2: write the value between quotes: longest = "1.3 s"'),
        ("longest: 1.3", "Expected '=' after a key in a key/value pair (at line 2, column 8): longest: 1.3"),
    ],
)
def test_a_line_that_is_no_toml_is_named_with_what_to_write(handed_in, line, says):
    path = handed_in("ada")
    (path / LESSON.name / ANSWER).write_text(f"# mine\n{line}\n")
    with pytest.raises(InputError) as error:
        Folder(path).answers(LESSON)
    assert str(error.value).endswith(f"is not TOML: {says}")


def handed(folder, **given):
    """Return what came out of a lesson in a folder, with a sentence that a person has to read."""
    judged = [
        JudgedAnswer("why", "read", "it cites your run", by_person=given["why"]),
        JudgedAnswer("longest", "right", "right"),
    ]
    return Graded(folder, Student(folder, "course"), "01", judged, given=given)


def test_equal_sentences_and_equal_numbers_are_named_whoever_changed_a_figure():
    numbers = {"longest": "1.3 s", "total": "9", "waiting": "20 MiB"}
    ada = handed("ada", why="It slept 1.3 s as l1 filled the memory.", **numbers)
    bob = handed("bob", why="it slept 1.1 s, as L1 filled the memory", **numbers | {"total": "8"})
    eve = handed("eve", why="Too much of what l1 wrote was dirty.", **numbers)
    notes = [one.note for one in with_notes([ada, bob, eve])]
    assert notes == [
        "the sentence why: the same as bob; all 3 numbers: the same as eve",
        "the sentence why: the same as ada",
        "all 3 numbers: the same as ada",
    ]
    assert (
        with_notes([replace(ada, given={"longest": "1.3 s"}), replace(eve, given={"longest": "1.3 s"})])[0].note == ""
    )


def test_a_sentence_counts_only_once_a_person_has_read_it():
    found = [handed("ada", why="It slept 1.3 s as l1 filled the memory.")]
    assert (found[0].points, len(found[0].counted), found[0].to_read) == (1, 1, 1)
    (row,) = csv.DictReader(StringIO(classmarks.as_table(found)))
    assert row == {
        "folder": "ada",
        "student": "ada",
        "course": "course",
        "01 right": "1",
        "01 of": "1",
        "01 to read": "1",
        "note": "",
    }
    tests = json.loads(classmarks.as_gradescope(found))["tests"]
    assert [("score" in test, test["output"]) for test in tests] == [
        (False, "it cites your run: It slept 1.3 s as l1 filled the memory."),
        (True, "right"),
    ]
    (suite,) = ElementTree.fromstring(classmarks.as_junit(found))
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
