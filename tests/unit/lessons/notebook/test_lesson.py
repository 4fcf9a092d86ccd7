"""What cells show: widgets that write the student's files, and the same as text where there are none."""

import builtins
from types import SimpleNamespace

import pytest
from support.lessonbegun import begin

from wblab.core.errors import WblabError
from wblab.lessons.folder import ANSWER
from wblab.lessons.notebook import here
from wblab.lessons.notebook import lessonwidget as module
from wblab.lessons.notebook.desk import Desk
from wblab.lessons.notebook.lessonwidget import CannotBeginError, NotebookLesson
from wblab.lessons.notebook.questionwidget import QuestionWidget


class QuietDesk(Desk):
    """A desk that finds no run until a test says which."""

    there = None

    def run(self, of=""):
        return self.there


@pytest.fixture
def shown(monkeypatch):
    """Return what cells put into their outputs."""
    found = []
    monkeypatch.setattr(module, "put", lambda text, widget=None: found.append((text, widget)))
    return found


@pytest.fixture
def desk(tmp_path, make):
    return QuietDesk(begin(tmp_path), lambda at, progress: make)


@pytest.fixture
def lesson(desk):
    return NotebookLesson(desk)


def field(desk, name):
    widget = QuestionWidget(desk, name)
    widget.refresh()
    return widget, widget.box.children


def test_a_number_is_a_text_field_that_writes_the_file(desk):
    widget, (_, answer, state, *_) = field(desk, "longest")
    (text,) = answer.children
    assert text.description == "your answer: longest in s"
    text.value = "1.5"
    assert desk.answers()["longest"] == "1.5"
    assert "saved, not checked yet" in state.value
    desk.answer("longest", "2.5 s")  # as in an editor
    widget.refresh()
    (text,) = answer.children
    assert text.value == "2.5 s"
    assert desk.answers()["longest"] == "2.5 s"


def test_a_choice_has_buttons_with_words(desk):
    _, (ask, answer, *_) = field(desk, "which")
    (buttons,) = answer.children
    assert [words for words, _ in buttons.options] == ["l1, which writes", "c1, which sleeps"]
    assert buttons.value is None
    assert "&lt;b&gt;stalls&lt;/b&gt;" in ask.value
    buttons.value = "c1"
    assert desk.answers()["which"] == "c1"


def test_a_change_has_a_widget_for_each_key(desk):
    _, (_, size, threshold, queue, state) = field(desk, "smaller")
    (text,) = size.children
    text.value = "8MiB"
    threshold.children[1].value = 16
    queue.children[0].value = True
    table = desk.table("smaller")
    assert table["load"]["l1"]["size"] == "8MiB"
    assert table["sysctl"]["vm.dirty_bytes"] == "16MiB"
    assert table["disk"]["queue"]["nr_requests"] == 64
    assert "saved" in state.value


def test_hints_come_one_by_one(desk):
    widget, children = field(desk, "why")
    widget._give_hint()
    assert "hint 1 of 2: First hint." in children[-1].value


def test_what_is_said_of_an_answer_is_a_word(desk):
    desk.answer("expect", "1")
    desk.answer("which", "c1")
    desk.check()
    _, (*_, state) = field(desk, "which")
    assert "<strong>not yet</strong>: look again" in state.value
    _, (_, answer, state) = field(desk, "expect")
    assert "<strong>kept</strong>: you expected 1 s" in state.value
    assert answer.children[0].disabled


def test_a_mistake_in_a_file_is_one_line_in_the_cell(lesson, desk, shown):
    path = desk.at.folder.of(desk.at.lesson) / ANSWER
    _, (_, answer, state, *_) = field(desk, "longest")
    (text,) = answer.children
    path.write_text("longest = ")
    text.value = "3"
    assert "<strong>wblab</strong>:" in state.value
    lesson.ask("longest")
    lesson.check()
    lesson.answer(longest="3")
    assert [text.text.startswith("wblab: ") for text, _ in shown] == [True] * 3
    assert path.read_text() == "longest = "


def test_cells_show_questions_and_what_is_not_there_yet(lesson, shown):
    lesson.ask("longest", "which")
    lesson.pauses()
    lesson.why(of="smaller")
    lesson.explanation()
    lesson.ask("wich")
    texts = [text.text for text, _ in shown]
    assert texts[0].startswith("longest: What is the longest pause of l1?")
    assert "  l1: l1, which writes" in texts[0]
    assert [text.split(":")[0] for text in texts[1:]] == ["No run yet", "No run yet", "Not solved yet", "wblab"]
    assert [widget is not None for _, widget in shown] == [True, True, True, True, False]


def test_check_makes_all_cells_new(lesson, desk, shown, monkeypatch):
    lesson.ask("longest")
    lesson.pauses()
    *_, button, line = shown[0][1].children
    for expected, says in (("", "First write down"), ("soon", "is no number yet"), ("1", "5 open.")):
        assert "No run yet" in shown[1][1].value
        desk.answer("expect", expected)
        button.click()
        assert says in line.value
    desk.there = SimpleNamespace(path="run")
    monkeypatch.setattr(
        "wblab.lessons.notebook.lessonwidget.looked", lambda run, look: module.said(f"a {look.view} table")
    )
    *_, button, line = shown[0][1].children
    button.click()
    assert "5 open." in line.value
    assert not button.disabled
    assert "a pauses table" in shown[1][1].value
    assert "not answered yet" in shown[0][1].children[0].children[2].value


def test_only_the_last_check_says_how_far_it_is(lesson, desk, shown):
    desk.answer("expect", "1")
    lesson.ask("longest")
    lesson.ask("which")
    (*_, first, said), (*_, second, also) = (widget.children for _, widget in shown)
    first.click()
    assert "5 open." in said.value
    desk.answer("which", "l1")
    second.click()
    assert (said.value, "1 right, 4 open." in also.value) == ("", True)


def test_a_run_that_fails_is_said_beside_the_button(lesson, desk, shown):
    desk.answer("expect", "1")

    def failing(progress):
        with progress("lesson") as report:
            report(None, "booting")
        raise WblabError("the guest hung")

    desk.check = failing
    lesson.ask("longest")
    *_, button, line = shown[0][1].children
    button.click()
    assert "wblab: the guest hung" in line.value
    assert not button.disabled


def test_without_widgets_cells_show_text_and_calls_do_the_same(lesson, desk, shown, monkeypatch):
    plain = builtins.__import__

    def without(name, *arguments, **options):
        if name.partition(".")[0] == "ipywidgets":
            raise ImportError(name)
        return plain(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    lesson.ask("longest", "which", "smaller")
    lesson.pauses()
    assert [widget for _, widget in shown] == [None, None]
    assert "Answer in <code>answer.toml</code>" in shown[0][0].html
    lesson.answer(expect="1", longest="2")
    lesson.change("smaller", {"load.l1.size": "8MiB"})
    lesson.check()
    assert "longest: " in shown[-1][0].text
    lesson.ask("longest")
    assert "Your answer: 2" in shown[-1][0].text


def test_where_no_lesson_is_begun_a_notebook_shows_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotBeginError) as raised:
        here("01-mine")
    (line,) = raised.value._render_traceback_()
    assert line.startswith("wblab: no lesson was started in my-lessons")


def test_a_lesson_is_found_from_its_own_directory(desk, monkeypatch):
    monkeypatch.chdir(desk.at.folder.of(desk.at.lesson))
    assert repr(here("01-mine")) == "01-mine: A title, 20 minutes"
