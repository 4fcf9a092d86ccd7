"""The notebook of a lesson is a valid one, with prose and short calls."""

import ast
import json

import nbformat
import pytest
from support.lessonbegun import begin

from wblab.cli import main
from wblab.lab.extras import Installation
from wblab.lessons.lesson import lessons
from wblab.lessons.notebook.lessoncells import NOTEBOOK, notebook
from wblab.lessons.notebook.lessonwidget import NotebookLesson
from wblab.lessons.student import Student
from wblab.lessons.verbs.lesson.show import how_to_open

OWN = lessons()
ADA = Student("ada", "os")


def calls(text):
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("lesson", OWN, ids=lambda lesson: lesson.name)
def test_each_lesson_is_a_notebook(lesson):
    text = notebook(lesson, ADA)
    nbformat.validate(nbformat.reads(text, as_version=4))
    made = calls(text)
    assert made[0] == f'from wblab.lessons.notebook import here\n\nlesson = here("{lesson.name}")'
    asked = []
    for call in made[1:]:
        (statement,) = ast.parse(call).body
        assert isinstance(statement.value, ast.Call)
        assert hasattr(NotebookLesson, statement.value.func.attr)
        if statement.value.func.attr == "ask":
            asked += [argument.value for argument in statement.value.args]
    assert sorted(asked) == sorted(lesson.question)
    assert made[-1] == "lesson.explanation()"


def test_a_stranger_s_text_is_prose_and_no_code(tmp_path):
    at = begin(tmp_path)
    text = notebook(at.lesson, at.state.who)
    prose = "".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")
    assert "\\$5 and \\$6 &lt;script>" in prose
    assert "!\\[a picture]" in prose
    assert "$1 <b>" in prose  # in a block of code
    assert calls(text)[1:] == [
        'lesson.ask("expect")',
        "lesson.pauses()",
        'lesson.ask("longest", "which", "shorter")',
        "lesson.why()",
        "lesson.why(evidence=True)",
        'lesson.printed(words="MiB")',
        'lesson.ask("why")',
        'lesson.timeline(of="smaller", around="l1")',
        'lesson.ask("smaller")',
        "lesson.explanation()",
    ]


def test_the_verb_writes_it_once_and_says_how_to_open_it(tmp_path, monkeypatch, capsys):
    at = begin(tmp_path)
    monkeypatch.chdir(at.folder.path)
    assert main(["lesson", "show", "--notebook"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("01-mine/lesson.ipynb has the lesson.\n")
    assert "-m jupyterlab" in said
    path = at.folder.of(at.lesson) / NOTEBOOK
    assert path.read_text() == notebook(at.lesson, at.state.who)
    path.write_text("mine")
    assert main(["lesson", "show", "--notebook", "01-mine"]) == 0
    assert "is kept" in capsys.readouterr().out
    assert path.read_text() == "mine"


def test_where_jupyterlab_is_missing_the_verb_says_how_to_get_it(tmp_path):
    said = how_to_open(tmp_path, Installation(has=lambda extra: extra == "pages"))
    assert said[0].startswith("JupyterLab is not installed here")
    assert "pages,notebooks]" in said[1]
