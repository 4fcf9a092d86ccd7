"""What the verbs of wblab lesson share: the student's folder, and where in it the student is."""

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import InputError

if TYPE_CHECKING:
    from wblab.lessons.folder import Folder, State
    from wblab.lessons.lesson import Lesson

FOLDER = Path("my-lessons")


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add --dir."""
    parser.add_argument(
        "--dir", type=Path, dest="folder", metavar="DIR", help=f"your folder (default: where you are, or {FOLDER})"
    )


def add_lesson(parser: argparse.ArgumentParser) -> None:
    """Add LESSON, one that was begun."""
    parser.add_argument("lesson", nargs="?", default="", metavar="LESSON", help="which (default: the current one)")


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add --lessons, the directory of a set of them."""
    about = "the directory of other lessons (default: the lab's)"
    parser.add_argument("--lessons", type=Path, dest="set", metavar="DIR", help=about)


def folder(arguments: argparse.Namespace) -> "Folder":
    """Return the student's folder: the one that is given, the one around this directory, or the default one."""
    from wblab.lessons.folder import Folder

    if arguments.folder is not None:
        return Folder(arguments.folder)
    around = (Folder(Path(os.path.relpath(path))) for path in (Path.cwd(), *Path.cwd().parents))
    return next((one for one in around if one.begun()), Folder(FOLDER))


@dataclass(frozen=True)
class Place:
    """Where a student is: the folder, its state, the set of lessons and the current one."""

    folder: "Folder"
    state: "State"
    lessons: "Sequence[Lesson]"
    lesson: "Lesson"

    @property
    def directory(self) -> Path:
        """The lesson's files, by the shorter of their paths."""
        path = self.folder.of(self.lesson)
        return min(path, Path(os.path.relpath(path)), key=lambda each: len(str(each)))

    def keep(self, **changes: object) -> "Place":
        """Keep changes of the current lesson's progress."""
        state = self.state.with_progress(self.lesson, **changes)
        self.folder.keep(state)
        return replace(self, state=state)


def lessons_of(given: "Path | str | None") -> "list[Lesson]":
    """Return the lessons of a set; of none, the lab's. Raises InputError."""
    from wblab.lessons.lesson import lessons

    return lessons(Path(given)) if given else lessons()


def lacking(lesson: "Lesson") -> list[str]:
    """Return the kernels that a lesson needs and that are not built."""
    from wblab.kernels import find_kernel

    return [name for name in lesson.needs if find_kernel(name) is None]


def place(arguments: argparse.Namespace, wanted: str = "") -> Place:
    """Return where the student is. wanted: a lesson by its number or name. Raises InputError."""
    from wblab.lessons.lesson import find

    where = folder(arguments)
    state = where.state()
    known = lessons_of(state.set)
    lesson = find(wanted or state.current, known)
    if not where.of(lesson).is_dir():
        raise InputError(f"the lesson {lesson.name} was not started: wblab lesson start {lesson.name}")
    return Place(where, state, known, lesson)
