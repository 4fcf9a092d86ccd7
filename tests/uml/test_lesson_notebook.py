"""A lesson's notebook, executed from top to bottom, with the answers given as its widgets give them."""

import json
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell
from support.executed import execute

from wblab.cli import main
from wblab.lessons.figures import figures
from wblab.lessons.folder import ANSWER, Folder
from wblab.lessons.lesson import REFERENCE, find, lessons
from wblab.lessons.notebook.lessoncells import NOTEBOOK, notebook
from wblab.lessons.proof import answered
from wblab.lessons.runs import made, spec
from wblab.lessons.student import Student

LESSON = find("02-lock-up", lessons())
ADA = Student("ada", "os")


def after(notebook, call, *new):
    """Put cells behind the one that makes a call."""
    place = next(number for number, cell in enumerate(notebook.cells) if cell.source == call)
    notebook.cells[place + 1 : place + 1] = [new_code_cell(source) for source in new]


def test_a_lesson_is_solved_in_its_notebook(lab, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["lesson", "start", "2", "--student", "ada", "--course", "os"]) == 0
    assert main(["lesson", "show", "--notebook"]) == 0
    directory = Path("my-lessons", LESSON.name).resolve()

    def make(wanted):
        return made(wanted, directory.parent / "exp", lambda name: lab.kernel)

    plain = execute(nbformat.read(directory / NOTEBOOK, as_version=4), cwd=directory)
    assert sum("No run yet" in data["text/plain"] for data in plain) == 3
    assert not (directory.parent / "exp").exists()

    given = answered(LESSON, ADA, ADA.table(LESSON, REFERENCE), make)
    changes = given.pop("polite")
    solving = nbformat.read(directory / NOTEBOOK, as_version=4)
    expected = {"expect_longest": given.pop("expect_longest")}
    after(solving, 'lesson.ask("expect_longest")', f"lesson.answer(**{expected!r})", "lesson.check()")
    after(
        solving, 'lesson.ask("cause", "waiting", "why")', f"lesson.answer(**{given!r})", 'lesson.answer(total="long")'
    )
    late = "lesson.answer(expect_longest='1')"
    after(solving, 'lesson.ask("polite")', f"lesson.change('polite', {changes!r})", late, "lesson.check()")
    shown = execute(solving, cwd=directory)
    texts = [data["text/plain"] for data in shown]
    assert any("longest: open: not answered yet" in text for text in texts)
    assert any("mw1 was stalled" in text for text in texts)
    assert any("data:image/png" in data.get("text/html", "") for data in shown)
    assert "wblab: the prediction is kept as it was before the run" in texts
    assert any("total: not yet: 'long' is no number" in text for text in texts)
    assert not any("What happened" in text for text in texts)

    run = figures(make(spec(LESSON, ADA)))
    again = nbformat.read(directory / NOTEBOOK, as_version=4)
    after(again, 'lesson.ask("polite")', f"lesson.answer(total='{run['mw1.paused_s']:.2f} s')", "lesson.check()")
    texts = [data["text/plain"] for data in execute(again, cwd=directory)]
    assert any("Solved." in text for text in texts)
    assert any("What happened" in text for text in texts)
    assert Folder(directory.parent).state().of(LESSON).solved
    assert "# What does it wait for meanwhile?" in (directory / ANSWER).read_text()
    capsys.readouterr()
    assert main(["lesson", "check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["solved"]
    assert notebook(LESSON, ADA) == (directory / NOTEBOOK).read_text()
    assert lab.left_behind() == []
