"""A lesson as a page: one HTML file with the student's numbers, that loads nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

from wblab.lessons.folder import ANSWER
from wblab.lessons.lesson import EXPLANATION, TEXT, Lesson, Question, lessons
from wblab.lessons.markdown import to_html
from wblab.lessons.sections import sections
from wblab.lessons.student import Student
from wblab.lessons.whereabouts import LessonPlace
from wblab.report.page import render

PAGE = "lesson.html"


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
    """Return the page of a lesson. The explanation is on it once the lesson is solved. Raises InputError."""
    lesson, who = at.lesson, at.state.who
    questions = who.questions(lesson)
    solved = at.state.of(lesson).solved
    parts = [
        _Part(to_html(section.text), tuple(asked(name, questions[name]) for name in section.questions))
        for section in sections(who.text(lesson, TEXT), questions)
    ]
    return render(
        "wblab.lessons",
        "lesson.html",
        title=lesson.title,
        lesson=lesson,
        who=who,
        parts=parts,
        solved=solved,
        explanation=to_html(who.text(lesson, EXPLANATION), lower=2) if solved else "",
    )


def texts() -> Iterator[tuple[Lesson, str]]:
    """Yield each lesson with its text as HTML, which has the numbers of one student. Raises InputError."""
    reader = Student("a reader")
    for lesson in lessons():
        yield lesson, to_html(reader.text(lesson, TEXT))
