"""A lesson that is not sound is found, and why."""

import shutil
from types import SimpleNamespace

import pytest

from wblab.lessons.check import measured
from wblab.lessons.figures import LessonFigures
from wblab.lessons.lesson import LESSON, REFERENCE, TEMPLATE, lessons, read_lesson
from wblab.lessons.proof import answered, faults, lecture, students
from wblab.lessons.runs import spec
from wblab.lessons.student import Student

CHANGE = """
[question.smaller]
kind = "change"
ask = "Make it smaller."
allowed = ["load.l1.size"]

[[question.smaller.holds]]
figure = "l1.longest_pause_s"
most = "1s"
says = "the pause"
"""


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(TEMPLATE, tmp_path / "01-mine")


def found(folder, make):
    (student,) = students(1)
    return list(faults(read_lesson(folder), student, make))


def test_the_template_is_sound(folder, make):
    assert found(folder, make) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (LESSON, 'least = "100ms"', 'least = "100s"', "the point is lost: l1.longest_pause_s is 2."),
        (LESSON, "wblab why --pauses lists it.", "It is ${size}00 ms.", "hint 1 of longest gives the number away"),
        (LESSON, "that is all pauses", "those are", "wrong/total.toml: of longest it says 'those are"),
        (LESSON, '"l1.paused_s"', '"l1.longest_pause_s"', "wrong/total.toml: of longest it says '3.0 times"),
        (REFERENCE, '"figure:l1.longest_pause_s"\nl', '"long"\nl', "the reference answer to expect is wrong"),
        ("wrong/total.toml", "l1.paused_s", "l1.longest_pause_s", "the answer to longest is right"),
    ],
)
def test_what_is_wrong_is_said(folder, make, *, file, old, new, says):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    (fault,) = found(folder, make)
    assert says in fault


def test_a_change_that_the_reference_makes_passes(folder, make):
    (folder / LESSON).write_text((folder / LESSON).read_text() + CHANGE)
    (folder / REFERENCE).write_text((folder / REFERENCE).read_text() + '[smaller]\n"load.l1.size" = "8MiB"\n')
    assert found(folder, make) == []
    (folder / REFERENCE).write_text((folder / REFERENCE).read_text().replace("8MiB", "18MiB"))
    assert found(folder, make) == [
        "the reference answer to smaller is wrong: the pause: 1.80 s, wanted: at most 1s"
    ]  # fmt: skip


def test_figures_of_several_seeds_are_their_least_most_and_mean(folder, monkeypatch):
    runs = []

    def make(spec):
        runs.append(spec.seed)
        pause_s = float(len(set(runs)))
        return SimpleNamespace(
            path="run", found=LessonFigures({"l1.longest_pause_s": pause_s, "l1.paused_s": 3 * pause_s})
        )

    monkeypatch.setattr("wblab.lessons.check.figures", lambda run: run.found)
    file = folder / LESSON
    file.write_text("seeds = 3\n" + file.read_text())
    lesson, (student,) = read_lesson(folder), students(1)
    found = measured(lesson, spec(lesson, student), make)
    first = student.seed_of(lesson)
    assert runs == [first, first + 1, first + 2]
    of_one = [found[f"l1.longest_pause_s{over}"] for over in ("", ".least", ".most", ".mean")]
    assert of_one == [1.0, 1.0, 3.0, 2.0]
    assert found["l1.paused_throttled_s.mean"] == 0.0  # no pause of this cause in any run


def test_figures_in_a_sentence_have_their_unit(folder, make, monkeypatch):
    sentence = 'kind = "sentence"\nask = "Say it."\ncites = ["l1.dropped"]\nnames = { "what" = ["lost"] }\n'
    (folder / LESSON).write_text((folder / LESSON).read_text() + f"\n[question.say]\n{sentence}")
    lesson, (student,) = read_lesson(folder), students(1)
    run = LessonFigures({"l1.dropped": 1300.0, "l1.paused_s.most": 1.5, "dirty.most": 3e6, "l1.throughput_bps": 2048.0})
    monkeypatch.setattr("wblab.lessons.proof.measured", lambda *_: run)
    said = {"say": ", ".join(f"figure:{name}" for name in run)}
    assert answered(lesson, student, said, make) == {"say": "1300, 1.50 s, 2.86 MiB, 2.00 KiB/s"}


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_a_run_and_one_for_each_change(lesson):
    found = dict(lecture(lesson, Student("lecture")))
    changes = [name for name, question in lesson.question.items() if question.kind == "change"]
    assert list(found) == [lesson.name, *(f"{lesson.name}-{name}" for name in changes)]
    assert len({str(spec) for spec in found.values()}) == len(found)
    assert {spec.seed for spec in found.values()} == {Student("lecture").seed_of(lesson)}
