"""Where a student is: the folder, its state, the set of lessons and one of them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.core.errors import InputError
from wblab.lessons.folder import Folder, LessonState
from wblab.lessons.lesson import Lesson, find, lessons

FOLDER = Path("my-lessons")


@dataclass(frozen=True)
class LessonPlace:
    """Where a student is: the folder, its state, the set of lessons and the current one."""

    folder: Folder
    state: LessonState
    lessons: Sequence[Lesson]
    lesson: Lesson

    @property
    def directory(self) -> Path:
        """The lesson's files, by the shorter of their paths."""
        path = self.folder.of(self.lesson)
        return min(path, Path(os.path.relpath(path)), key=lambda each: len(str(each)))

    def keep(self, **changes: object) -> "LessonPlace":
        """Keep changes of the current lesson's progress."""
        state = self.state.with_progress(self.lesson, **changes)
        self.folder.keep(state)
        return replace(self, state=state)


def folder_here() -> Folder:
    """Return the student's folder around this directory, or the default one: found, so used only if it is our own."""
    around = (Folder(Path(os.path.relpath(path)), found=True) for path in (Path.cwd(), *Path.cwd().parents))
    return next((one for one in around if one.begun()), Folder(FOLDER, found=True))


def lessons_of(given: Path | str | None) -> list[Lesson]:
    """Return the lessons of a set; of none, the lab's. Raises InputError."""
    return lessons(Path(given)) if given else lessons()


def place_in(folder: Folder, wanted: str = "") -> LessonPlace:
    """Return where the student is in a folder. Raises InputError.

    wanted: a lesson by its number or name; by default the one whose directory this is, or else the current one.
    """
    state = folder.state()
    known = lessons_of(state.set)
    lesson = find(wanted or _around(folder, known) or state.current, known)
    if not os.path.isdir(folder.of(lesson)):
        raise InputError(f"the lesson {lesson.name} was not started: wblab lesson start {lesson.name}")
    return LessonPlace(folder, state, known, lesson)


def _around(folder: Folder, known: Sequence[Lesson]) -> str:
    """Return the name of the lesson whose directory is around this one, or nothing."""
    around = (Path.cwd(), *Path.cwd().parents)
    return next((lesson.name for lesson in known if folder.of(lesson).resolve() in around), "")
