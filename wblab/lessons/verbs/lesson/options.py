"""What the verbs of wblab lesson share: the student's folder, and where in it the student is."""

import argparse
from pathlib import Path

from wblab.lessons.folder import Folder
from wblab.lessons.lesson import Lesson
from wblab.lessons.whereabouts import LessonPlace, folder_here, place_in


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add --dir."""
    parser.add_argument(
        "--dir", type=Path, dest="folder", metavar="DIR", help="your folder (default: where you are, or my-lessons)"
    )


def add_lesson(parser: argparse.ArgumentParser) -> None:
    """Add LESSON, one that was begun."""
    about = "which (default: the one of this directory, or the current one)"
    parser.add_argument("lesson", nargs="?", default="", metavar="LESSON", help=about)


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add --lessons, the directory of a set of them."""
    about = "the directory of other lessons (default: the lab's)"
    parser.add_argument("--lessons", type=Path, dest="set", metavar="DIR", help=about)


def folder(arguments: argparse.Namespace) -> Folder:
    """Return the student's folder: the one that is given, the one around this directory, or the default one."""
    return folder_here() if arguments.folder is None else Folder(arguments.folder)


def lacking(lesson: Lesson) -> list[str]:
    """Return the kernels that a lesson needs and that are not built."""
    from wblab.kernels import find_kernel

    return [name for name in lesson.needs if find_kernel(name) is None]


def place(arguments: argparse.Namespace, wanted: str = "") -> LessonPlace:
    """Return where the student is. wanted: a lesson by its number or name. Raises InputError."""
    return place_in(folder(arguments), wanted)
