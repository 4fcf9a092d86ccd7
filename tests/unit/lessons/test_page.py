"""A lesson as a page: whole, self-contained, and without its explanation before it is solved."""

import re
import shutil
from itertools import pairwise

import pytest
from support.lessonbegun import begin
from support.pages import Page, words

from wblab.cli import main
from wblab.lessons.folder import Folder, LessonState
from wblab.lessons.lesson import lessons
from wblab.lessons.page import page_of
from wblab.lessons.whereabouts import LessonPlace

OWN = lessons()


def headings(page):
    return [int(level) for level in re.findall(r"<h([1-6])", page)]


def assert_in_order(page):
    levels = headings(page)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("solved", ["", "2026-11-26"])
@pytest.mark.parametrize("lesson", OWN, ids=lambda lesson: lesson.name)
def test_each_lesson_is_a_page(tmp_path, lesson, solved):
    state = LessonState("ada", "os").with_progress(lesson, solved=solved)
    page = page_of(LessonPlace(Folder(tmp_path), state, OWN, lesson))
    seen = Page()
    seen.feed(page)
    assert not seen.loads
    assert {"main", "footer", "h1"} <= set(seen.tags)
    assert '<html lang="en">' in page
    assert_in_order(page)
    text = " ".join(words(page))
    for name, question in state.who.questions(lesson).items():
        assert f'id="question-{name}"' in page
        assert question.ask in text
        assert all(hint in text for hint in question.hints)
        assert all(option in text for option in question.options.values())
    assert seen.tags.count("details") == sum(len(question.hints) for question in lesson.question.values())
    assert (f"You solved this lesson on {solved}" in text) == bool(solved)
    assert ("What happened." in text or ": why" in text) == bool(solved)


def test_the_verb_writes_the_page_beside_the_lesson(tmp_path, monkeypatch, capsys):
    at = begin(tmp_path)
    monkeypatch.chdir(at.folder.path)
    assert main(["lesson", "show", "--page"]) == 0
    assert capsys.readouterr().out == "01-mine/lesson.html\n"
    page = (at.folder.path / "01-mine/lesson.html").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert "As it is" not in page
    assert "The numbers are those of ada in os." in page
    at.keep(solved="2026-11-26")
    assert main(["lesson", "show", "--page", "1", "-o", "it.html"]) == 0
    assert "As it is" in (at.folder.path / "it.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "--page", "9"], "no lesson '9'"),
        (["show", "--page", "-o", "it.txt"], "must end in .html"),
        (["show", "--notebook", "9"], "no lesson '9'"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(begin(tmp_path).folder.path)
    assert main(["lesson", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


def test_a_lesson_that_was_not_started_has_no_page(tmp_path, monkeypatch, capsys):
    at = begin(tmp_path)
    shutil.rmtree(at.folder.of(at.lesson))
    monkeypatch.chdir(at.folder.path)
    assert main(["lesson", "show", "--page"]) == 2
    assert "wblab lesson start 01-mine" in capsys.readouterr().err
