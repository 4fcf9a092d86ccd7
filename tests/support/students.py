"""Students who hand in: folders with the reference answers of lessons, from runs of their own."""

from pathlib import Path

import tomli_w

from wblab.analysis.runs.digest import digest
from wblab.lessons.check import Make
from wblab.lessons.folder import ANSWER, Folder, LessonState
from wblab.lessons.lesson import REFERENCE, Lesson
from wblab.lessons.proof import answered, changed_table
from wblab.lessons.runs import spec
from wblab.lessons.student import Student


def hand_in(path: Path, student: Student, lessons: list[Lesson], make: Make) -> Folder:
    """Write the folder of a student who answers all as the reference does, and return it."""
    folder, state = Folder(path), LessonState(student.name, student.course)
    for lesson in lessons:
        folder.start(lesson, student)
        run = make(spec(lesson, student))
        reference = student.table(lesson, REFERENCE)
        answers = answered(lesson, student, reference, make)
        for name, one in lesson.question.items():
            if one.kind == "change":
                keys = answers.pop(name)
                (folder.of(lesson) / f"{name}.toml").write_text(tomli_w.dumps(changed_table(lesson, student, keys)))
        (folder.of(lesson) / ANSWER).write_text(tomli_w.dumps(answers))
        expected = {name: str(answers[name]) for name, one in lesson.question.items() if one.kind == "predict"}
        state = state.with_progress(lesson, expected=expected, digest=digest(run), solved="2026-11-26")
    folder.keep(state)
    return folder
