"""Lessons on real runs: sound for some students, done by a student at the command line, and graded."""

import csv
import json
import os
import pty
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from support.graders import GRADERS, hidden_tests, imported
from support.lottery import on_its_day, some
from support.students import hand_in

from wblab.analysis.runs.run import read_run
from wblab.cli import main
from wblab.kernels import find_kernel
from wblab.lab.places import ROOT
from wblab.lessons.check import measured
from wblab.lessons.figures import figures
from wblab.lessons.folder import ANSWER, RUNS
from wblab.lessons.lesson import lessons
from wblab.lessons.runs import made, spec
from wblab.lessons.student import Student

LESSONS = lessons()


@pytest.fixture
def kernels(lesson):
    """Leave out a lesson that needs a kernel which is not built here."""
    for name in lesson.needs:
        if not find_kernel(name):
            pytest.skip(f"the kernel {name} is not built: wblab kernel build {name}")


@pytest.fixture
def make(lab):
    return lambda spec: made(spec, lab.results, lambda name: lab.kernel)


def of_a_day(lesson):
    """Three lessons are tried a day, all of them in turn and by make soak."""
    return on_its_day(lesson.name, [one.name for one in LESSONS], 3)


@pytest.mark.parametrize("lesson", [pytest.param(one, id=one.name, marks=of_a_day(one)) for one in LESSONS])
@pytest.mark.usefixtures("kernels")
def test_a_lesson_is_sound(lab, lesson, capsys):
    asked = ["lesson", "dev", "check", lesson.name, "--students", "1", "--exp", str(lab.results)]
    assert main(asked) == 0, capsys.readouterr().out
    assert capsys.readouterr().out == f"{lesson.name}: sound\n"
    assert lab.left_behind() == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
@pytest.mark.soak
def test_a_lesson_keeps_its_point_for_200_students(lab, lesson, make):
    for number in range(200):
        found = measured(lesson, spec(lesson, Student(f"student {number}", "point")), make)
        assert all(held.holds(found) for held in lesson.point), number


def test_a_student_solves_the_first_lesson(lab, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["lesson", "start", "1", "--student", "ada"]) == 0
    place = Path("my-lessons/01-page-cache")
    answers = place / ANSWER

    def answer(**given):
        text = answers.read_text()
        for name, value in given.items():
            assert f'\n{name} = ""' in text
            text = text.replace(f'\n{name} = ""', f'\n{name} = "{value}"')
        answers.write_text(text)

    def checked():
        capsys.readouterr()
        assert main(["lesson", "check", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert checked()["run"] is None  # nothing is shown before it is predicted
    assert not Path("my-lessons", RUNS).exists()
    answer(expect_write="3", expect_read="1 s")
    first = checked()
    run = figures(read_run(Path(first["run"])))
    seen = {name: f"{run[f'cache.{name}_s']:.3f} s" for name in ("write", "fsync", "again", "read")}
    why = f"Step 3 took {seen['again']} as the cache had it in memory, step 5 took {seen['read']} from the disk."
    dirty = f"{run['cache.write_dirty_bytes'] / (1 << 20):.0f}"
    answer(dirty=dirty, flush=seen["fsync"], cold=seen["again"], where="little", why=why)
    outcomes = {one["question"]: one["outcome"] for one in checked()["answers"]}
    assert outcomes.pop("cold") == "wrong"
    assert outcomes.pop("slow_write") == "missing"
    assert set(outcomes.values()) == {"right", "kept", "read"}
    assert main(["lesson", "show"]) == 2
    answers.write_text(answers.read_text().replace(f'cold = "{seen["again"]}"', f'cold = "{seen["read"]}"'))
    change = place / "slow_write.toml"
    change.write_text(change.read_text().replace('"40MiB"', '"1MiB"').replace('"60MiB"', '"2MiB"'))
    assert checked()["solved"]
    assert main(["lesson", "show"]) == 0
    assert "Step 1 copied" in capsys.readouterr().out
    assert main(["lesson", "start", "--next"]) == 0
    assert json.loads(Path("my-lessons/progress.json").read_text())["current"] == "02-lock-up"


def test_a_class_is_graded(lab, tmp_path, make, capsys):
    ada, bob = (hand_in(tmp_path / name, Student(name, "os"), LESSONS[:1], make).path for name in ("ada", "bob"))
    (bob / LESSONS[0].name / ANSWER).write_text((ada / LESSONS[0].name / ANSWER).read_text())
    marks, table, own = tmp_path / "marks.csv", tmp_path / "table.csv", set(lab.results.glob("*_*"))
    place = ["--exp", str(lab.results), "--csv", str(marks), "--table", str(table)]
    assert main(["lesson", "grade", str(ada), str(bob), *place]) == 0
    assert "1 sentence cites its run. It counts once a person has read it" in capsys.readouterr().out
    first, second = csv.DictReader(StringIO(table.read_text()))
    counts = [[row[f"{LESSONS[0].name} {what}"] for what in ("right", "of", "to read")] for row in (first, second)]
    assert counts[0] == ["5", "5", "1"]
    assert int(counts[1][0]) < 5
    assert f"numbers: the same as {ada}" in second["note"]
    assert f"the sentence why: the same as {bob}" in first["note"]
    assert set(lab.results.glob("*_*")) == own  # students' runs are nobody's latest
    assert marks.read_text().count("\n") == 1 + 2 * len(LESSONS[0].question)


@pytest.mark.parametrize("grader", some(["otter", "nbgrader"], 1))
def test_hidden_tests_have_the_lab_check_what_was_handed_in(grader, lab, tmp_path, make, monkeypatch):
    ada = hand_in(tmp_path / "my-lessons", Student("ada", "os-2027"), LESSONS[1:2], make).path
    answers = ada / LESSONS[1].name / ANSWER
    answers.write_text(answers.read_text().replace('cause = "throttled"', 'cause = "own"'))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(GRADERS))
    monkeypatch.setenv("WBLAB", str(Path(sys.executable).with_name("wblab")))
    with imported("lesson_check"):
        tests = hidden_tests(grader)
        with pytest.raises(AssertionError, match="cause: not own: look again"):
            tests.pop("cause")()
        with pytest.raises(AssertionError, match="why: a person gives this point: it cites your run"):
            tests.pop("why")()
        for test in tests.values():
            test()


@pytest.mark.timeout(120)
def test_a_saved_answer_is_checked_without_a_command(tmp_path, lab):
    where = ["--dir", str(tmp_path / "mine")]
    assert main(["lesson", "start", "1", *where]) == 0
    ours, theirs = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    command = [sys.executable, "-m", "wblab", "lesson"]
    watching = subprocess.Popen(
        command, cwd=tmp_path / "mine", env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while b"Waiting for you" not in seen:
        seen += os.read(ours, 4096)
    answers = tmp_path / "mine/01-page-cache" / ANSWER
    answers.write_text(answers.read_text().replace('expect_write = ""', 'expect_write = "long"'))
    while b"is no number" not in seen:
        seen += os.read(ours, 4096)
    watching.send_signal(2)
    assert watching.wait(20) == 0
    os.close(ours)
