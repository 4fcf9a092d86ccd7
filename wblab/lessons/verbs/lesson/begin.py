"""wblab lesson start, with --next, --anew and --list: a student begins a lesson."""

import argparse
import getpass
import json
import shlex
from dataclasses import replace
from pathlib import Path

from wblab.commands.common import add_json, print_wrapped
from wblab.core.errors import InputError
from wblab.lessons.folder import ANSWER, READ, LessonState, Progress, check_names
from wblab.lessons.lesson import SPEC, Lesson, find
from wblab.lessons.verbs.lesson.options import add_folder, add_lesson, add_set, folder, lacking, place
from wblab.lessons.whereabouts import LessonPlace, lessons_of
from wblab.report.listing import Listing


def list_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "List the lessons, and how far you are."
    add_set(parser)
    add_folder(parser)
    add_json(parser)
    parser.set_defaults(run=_list)


def _list(arguments: argparse.Namespace) -> None:
    where = folder(arguments)
    state = where.state() if where.begun() else None
    known = lessons_of(arguments.set or (state.set if state else ""))
    rows = []
    for lesson in known:
        progress = state.of(lesson) if state else Progress()
        begun = where.of(lesson).is_dir()
        how_far = f"solved {progress.solved}" if progress.solved else "begun" if begun else ""
        rows.append((lesson.name, lesson.title, lesson.minutes, how_far))
    if arguments.json:
        print(
            json.dumps([dict(zip(("name", "title", "minutes", "state"), row, strict=True)) for row in rows], indent=2)
        )
        return
    Listing([(name, far, f"{minutes} min", title) for name, title, minutes, far in rows], ("lesson", "", "", "")).show()


def reset_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Begin a lesson anew. Your files are kept under another name."
    add_lesson(parser)
    add_folder(parser)
    parser.set_defaults(run=_reset)


def _reset(arguments: argparse.Namespace) -> None:
    at = place(arguments, arguments.lesson)
    kept = at.folder.reset(at.lesson, at.state.who)
    at.keep(expected={}, digest="", made_with={}, hints={}, solved="")
    elsewhere = at.directory != Path()  # a shell in the lesson's directory is now in the one that is kept
    there = ["Go on in the new directory:", f"    cd {shlex.quote(str(at.directory))}"] if elsewhere else []
    print_wrapped([f"{at.lesson.name} is as it was at the start. Your files are in {kept}.", *there])


def next_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Begin the lesson after the current one."
    add_folder(parser)
    parser.set_defaults(run=_next)


def _next(arguments: argparse.Namespace) -> None:
    at = place(arguments)
    names = [lesson.name for lesson in at.lessons]
    if (number := names.index(at.lesson.name) + 1) == len(names):
        raise InputError(f"{at.lesson.name} is the last lesson: wblab lesson start --list")
    begin(replace(at, lesson=at.lessons[number]))


def start_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Write a lesson's files into your folder: its text, a spec, and a file for your answers."
    parser.add_argument("lesson", nargs="?", default="1", metavar="LESSON", help="its number or name (default: 1)")
    parser.add_argument("--student", metavar="NAME", help="who you are: decides your numbers (default: your user name)")
    parser.add_argument("--course", metavar="NAME", help="your course: with another one your numbers are others")
    add_set(parser)
    add_folder(parser)
    parser.set_defaults(run=_start)


def _start(arguments: argparse.Namespace) -> None:
    where = folder(arguments)
    if where.begun():
        state = where.state()
        for option, given, known in (
            ("--student", arguments.student, state.student),
            ("--course", arguments.course, state.course),
            ("--lessons", arguments.set and str(arguments.set.resolve()), state.set),
        ):
            if given is not None and given != known:
                raise InputError(f"{option} {given}: {where.path} is of {known or 'none'}: give another --dir")
    else:
        chosen = str(arguments.set.resolve()) if arguments.set else ""
        check_names(arguments.student or "", arguments.course or "")
        state = LessonState(arguments.student or getpass.getuser(), arguments.course or "", chosen)
    known_lessons = lessons_of(state.set)
    lesson = find(arguments.lesson, known_lessons)
    begin(LessonPlace(where, state, known_lessons, lesson))


def begin(at: LessonPlace) -> None:
    """Write the files of a lesson, make it the current one, and say how to begin."""
    at.folder.start(at.lesson, at.state.who)
    say_begun(replace(at, state=replace(at.state, current=at.lesson.name)).keep())


def _needed(lesson: Lesson) -> list[str]:
    """Return how to build the kernels that a lesson needs and that are not here."""
    builds = [f"    wblab kernel build {name}" for name in lacking(lesson)]
    return ["It needs a kernel that is not built yet:", *builds] if builds else []


def say_begun(at: LessonPlace) -> None:
    """Print where a lesson's files are, and how to begin."""
    there = [] if at.directory == Path() else [f"    cd {shlex.quote(str(at.directory))}"]
    print_wrapped(
        [
            f"{at.lesson.name}: {at.lesson.title}, {at.lesson.minutes} minutes",
            "",
            "Read the lesson in its directory, and follow it there:",
            *there,
            f"    less {READ}",
            f"Your experiment is {SPEC}, your answers go in {ANSWER}.",
            *_needed(at.lesson),
            "Check them whenever you like:",
            "    wblab lesson check",
        ]
    )
