"""A lesson as a page: one HTML file with the student's numbers, that loads nothing."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wblab.analysis.runs.lanes import Lanes, lanes_of
from wblab.core.errors import WblabError
from wblab.kernels import built_kernels
from wblab.lessons.check import specs
from wblab.lessons.folder import ANSWER, RUNS
from wblab.lessons.lesson import EXPLANATION, TEXT, Lesson, Question, lessons
from wblab.lessons.markdown import to_html
from wblab.lessons.runs import found
from wblab.lessons.sections import sections
from wblab.lessons.student import Student
from wblab.lessons.whereabouts import LessonPlace
from wblab.plot.lanespicture import lanes_picture
from wblab.plot.picture import svg
from wblab.report.lanestext import in_words
from wblab.report.page import render

PAGE = "lesson.html"
READER = Student("a reader")  # whose numbers a lesson has where no student has begun it
PICTURE, PICTURE_WORDS = "picture.png", "picture.txt"  # of the reader's runs: `make pictures`


@dataclass(frozen=True)
class AskedOnPage:
    """A question as pages show it. file: in which it is answered; example: of an answer, as a line of that file."""

    name: str
    question: Question
    file: str
    example: str


@dataclass(frozen=True)
class _Part:
    html: str
    questions: tuple[AskedOnPage, ...]


def asked(name: str, question: Question) -> AskedOnPage:
    """Return a question with how to answer it."""
    if question.kind == "change":
        return AskedOnPage(name, question, f"{name}.toml", "")
    example = {"choice": next(iter(question.options), ""), "sentence": "..."}.get(question.kind)
    return AskedOnPage(
        name, question, ANSWER, f'{name} = "{f"1.5 {question.unit}".strip() if example is None else example}"'
    )


def page_of(at: LessonPlace) -> str:
    """Return the page of a lesson. Raises InputError.

    The lanes of the student's runs are on it once they are made, the explanation once the lesson is solved.
    """
    lesson, who = at.lesson, at.state.who
    questions = who.questions(lesson)
    solved = at.state.of(lesson).solved
    parts = [
        _Part(to_html(section.text), tuple(asked(name, questions[name]) for name in section.questions))
        for section in sections(who.text(lesson, TEXT), questions)
    ]
    own = _own(at)
    return render(
        "wblab.lessons",
        "lesson.html",
        title=lesson.title,
        lesson=lesson,
        who=who,
        parts=parts,
        lanes=svg(lanes_picture(own)) if own else "",
        seen=in_words(own),
        solved=solved,
        explanation=to_html(who.text(lesson, EXPLANATION), lower=2) if solved else "",
    )


def _own(at: LessonPlace) -> list[Lanes]:
    """Return the lanes of the runs that a student made, those of changed specs below; none before the predictions."""
    if not at.state.of(at.lesson).digest:
        return []
    resolve, drawn = built_kernels(), []
    with suppress(WblabError):  # without the kernel, or with a damaged run, the rest is the page
        for file, wanted in specs(at.lesson, at.state.who, partial(at.folder.table, at.lesson)):
            if run := found(wanted[0], at.folder.path / RUNS, resolve):
                drawn.append(lanes_of(run, file))
    return drawn if any(lane.frozen_ns for run in drawn for lane in run.lanes) else []


def texts() -> Iterator[tuple[Lesson, str, Path, str]]:
    """Yield each lesson, its text as HTML with a reader's numbers, the picture of the reader's runs and its words.

    The picture of a lesson that has none is a file that is not there, without words. Raises InputError.
    """
    for lesson in lessons():
        words = lesson.file(PICTURE_WORDS)
        said = words.read_text().strip() if words.is_file() else ""
        yield lesson, to_html(READER.text(lesson, TEXT)), lesson.file(PICTURE), said
