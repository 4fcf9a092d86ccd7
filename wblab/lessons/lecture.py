"""The runs that a lecture shows: a lesson's, and those of its reference answers."""

from collections.abc import Iterator

from wblab.core.spec import Spec
from wblab.lessons.lesson import REFERENCE, Lesson
from wblab.lessons.proof import changed_table
from wblab.lessons.runs import Student, spec


def shown(lesson: Lesson, student: Student) -> Iterator[tuple[str, Spec]]:
    """Yield a name and a spec: the lesson's own, then each change as the reference makes it. Raises InputError."""
    yield lesson.name, spec(lesson, student)
    reference = student.table(lesson, REFERENCE)
    for name, question in lesson.question.items():
        if question.kind == "change":
            yield f"{lesson.name}-{name}", spec(lesson, student, changed_table(lesson, student, reference[name]))
