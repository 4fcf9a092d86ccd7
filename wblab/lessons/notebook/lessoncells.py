"""The notebook of a lesson: its text section by section, each with what to look at and the questions that it names."""

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from wblab.lessons.folder import ANSWER
from wblab.lessons.lesson import TEXT, Lesson
from wblab.lessons.markdown import for_jupyter
from wblab.lessons.sections import LessonSection, SectionLook, sections
from wblab.lessons.student import Student

NOTEBOOK = "lesson.ipynb"
_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
_HOW = f"""\
Choose *Run > Run All Cells* whenever you open this notebook. Then go from top to bottom: predict, look, explain,
change. A cell does what a command of the text does. Answers are saved in `{ANSWER}` at once, so you can go on in a
terminal and come back. *Check* makes the runs that it needs, also those of changed specs, some seconds for each run,
and says what is right."""
_WHY = """\
## Why it is so

Once all answers are right, the explanation is here."""


def notebook(lesson: Lesson, student: Student) -> str:
    """Return the notebook of a student's lesson, without output, as JSON. Raises InputError."""
    cells = [
        {"id": f"lesson-{number:02}", "metadata": {}} | cell for number, cell in enumerate(_cells(lesson, student))
    ]
    return json.dumps({"cells": cells, "metadata": _KERNEL, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cells(lesson: Lesson, student: Student) -> Iterator[dict[str, Any]]:
    questions = student.questions(lesson)
    first, *others = sections(student.text(lesson, TEXT), questions)
    yield _prose(f"{first.text}\n\n{_HOW}")
    yield _call(f"from wblab.lessons.notebook import here\n\nlesson = here({_quoted(lesson.name)})")
    yield from _calls(first)
    for section in others:
        yield _prose(f"{section.text}\n\n{_terminal(section)}".strip())
        yield from _calls(section)
    yield _prose(_WHY)
    yield _call("lesson.explanation()")


def _calls(section: LessonSection) -> Iterator[dict[str, Any]]:
    """Yield the cells of what a section looks at and asks."""
    yield from (_call(_look(look)) for look in dict.fromkeys(section.looks))
    if section.questions:
        yield _call(f"lesson.ask({', '.join(map(_quoted, section.questions))})")


def _terminal(section: LessonSection) -> str:
    """Return which commands of a section no cell does; empty if there are none."""
    names = ", ".join(f"`{name}`" for name in section.terminal)
    return f"*In a terminal only (File > New > Terminal), in this notebook's directory:* {names}" if names else ""


def _look(look: SectionLook) -> str:
    """Return the call that shows it, with what it gives beside the defaults."""
    given = ((each.name, getattr(look, each.name)) for each in fields(look)[1:])
    options = (f"{name}={value if value is True else _quoted(value)}" for name, value in given if value)
    return f"lesson.{look.view}({', '.join(options)})"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _prose(text: str) -> dict[str, Any]:
    """Return a cell of Markdown."""
    return {"cell_type": "markdown", "source": for_jupyter(text).splitlines(keepends=True)}


def _call(source: str) -> dict[str, Any]:
    """Return a cell of Python."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }
