"""Whether a lesson is sound, on the runs of several students."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from wblab.core.files import parse_toml
from wblab.core.spec import Spec
from wblab.lessons.check import Make, check, measured, patched
from wblab.lessons.figures import OVER, LessonFigures
from wblab.lessons.folder import blank
from wblab.lessons.judge import JudgedAnswer
from wblab.lessons.lesson import EXPLANATION, LECTURER, REFERENCE, TEXT, WRONG, Lesson, Question
from wblab.lessons.numbers import cited, written
from wblab.lessons.runs import original, spec
from wblab.lessons.student import Student

COURSE = "wblab lesson dev"
LEFT_OUT = "leave out"  # in the place of a key's value
_LEFT_OUT = "seems to leave out"  # in what is said of a sentence that lacks something
_FIGURE = re.compile(r"figure:([\w-]+\.\w+(?:\.(?:least|most|mean)\b)?)")
_GIVEN_AWAY_PERCENT = 2
_UNIT_OF_END = {"s": "s", "bytes": "MiB", "bps": "KiB/s", "hz": "", "dropped": ""}


def students(number: int) -> list[Student]:
    """Return made-up students."""
    return [Student(f"student {each + 1}", COURSE) for each in range(number)]


def faults(lesson: Lesson, student: Student, make: Make) -> Iterator[str]:
    """Yield what is wrong with a lesson for a student. Raises InputError, and WblabError if a run fails."""
    for name in (TEXT, EXPLANATION):
        student.text(lesson, name)
    lesson.read(LECTURER)
    yield from _Proof(lesson, student, make, measured(lesson, spec(lesson, student), make)).faults()


@dataclass(frozen=True)
class _Proof:
    """A lesson and one student of it. run: the figures of the student's run."""

    lesson: Lesson
    student: Student
    make: Make
    run: LessonFigures

    def faults(self) -> Iterator[str]:
        """Yield what is wrong."""
        for held in self.lesson.point:
            if not held.holds(self.run):
                yield f"the point is lost: {held.figure} is {written(self.run[held.figure], held.unit)}"
        begun = self._judged(parse_toml(blank(self.lesson, self.student).encode()))
        yield from (f"{name} is right before it is answered" for name, one in begun.items() if one.outcome == "right")
        reference = answered(self.lesson, self.student, self.student.table(self.lesson, REFERENCE), self.make)
        yield from (
            f"the reference answer to {name} is {one.outcome}: {one.says}"
            for name, one in self._judged(reference).items()
            if one.outcome not in ("right", "kept", "read") or _LEFT_OUT in one.says
        )
        for path in sorted(self.lesson.file(WRONG).glob("*.toml")):
            yield from self._wrong(f"{WRONG}/{path.name}", reference)
        yield from _given_away(self.student.questions(self.lesson), self.run)

    def _wrong(self, file: str, reference: Mapping[str, Any]) -> Iterator[str]:
        """Yield where a wrong answer is not refused with the words that it expects."""
        table = self.student.table(self.lesson, file)
        judged = self._judged({**reference, **table["answer"]})
        for name, says in table["says"].items():
            if judged[name].outcome not in ("wrong", "read"):
                yield f"{file}: the answer to {name} is {judged[name].outcome}"
            elif says not in judged[name].says:
                yield f"{file}: of {name} it says {judged[name].says!r}, not {says!r}"

    def _judged(self, given: Mapping[str, Any]) -> dict[str, JudgedAnswer]:
        """Judge answers in which figure:NAME stands for a figure of the run; those to a change are its keys."""
        answers = answered(self.lesson, self.student, given, self.make)

        def table(name: str) -> dict[str, Any]:
            return changed_table(self.lesson, self.student, given.get(name, {}))

        return {one.question: one for one in check(self.lesson, self.student, answers, table, self.make).judged}


def answered(lesson: Lesson, student: Student, given: Mapping[str, Any], make: Make) -> dict[str, Any]:
    """Return answers with figures in the place of figure:NAME: those of the run that each question is about."""
    questions = student.questions(lesson)

    @cache
    def run(of: str) -> LessonFigures:
        table = changed_table(lesson, student, given.get(of, {})) if of else None
        return measured(lesson, spec(lesson, student, table), make)

    return {
        name: _filled(answer, questions[name], run(questions[name].of)) if _has_figures(answer) else answer
        for name, answer in given.items()
    }


def changed_table(lesson: Lesson, student: Student, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a student's spec with some keys changed, or left out."""
    changes = {key: None if value == LEFT_OUT else value for key, value in keys.items()}
    return patched(original(lesson, student), changes)


def _has_figures(answer: object) -> bool:
    return isinstance(answer, str) and bool(_FIGURE.search(answer))


def _filled(answer: str, question: Question, run: LessonFigures) -> str:
    """Return an answer with figures in the place of their names."""

    def figure(match: re.Match[str]) -> str:
        end = re.split(r"[._]", OVER.sub("", match[1]))[-1]
        in_words = _UNIT_OF_END.get(end, "MiB")
        unit = in_words if question.kind == "sentence" else question.unit
        return written(run[match[1]], unit)

    return _FIGURE.sub(figure, answer)


def _given_away(questions: Mapping[str, Question], run: LessonFigures) -> Iterator[str]:
    """Yield which hints have the number that is asked for."""
    for name, question in questions.items():
        if question.kind != "number":
            continue
        for place, hint in enumerate(question.hints):
            given = cited(hint, question.unit)
            if any(number.is_near(run[question.figure], _GIVEN_AWAY_PERCENT) for number in given):
                yield f"hint {place + 1} of {name} gives the number away"


# The runs that a lecture shows: a lesson's, and those of its reference answers.


def lecture(lesson: Lesson, student: Student) -> Iterator[tuple[str, Spec]]:
    """Yield a name and a spec: the lesson's own, then each change as the reference makes it. Raises InputError."""
    yield lesson.name, spec(lesson, student)
    reference = student.table(lesson, REFERENCE)
    for name, question in lesson.question.items():
        if question.kind == "change":
            yield f"{lesson.name}-{name}", spec(lesson, student, changed_table(lesson, student, reference[name]))
