"""wblab lesson grade, new and dev: what a lecturer does."""

import argparse
import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_jobs, print_wrapped, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.held import held, through
from wblab.lab.printable import printable
from wblab.lessons.verbs.lesson.options import add_set, lacking
from wblab.report.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.lessons.grade import Graded


_STUDENTS = 3


def dev_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Check lessons on the runs of some made-up students: nothing is right before it is answered, the reference "
        "answer passes, wrong answers get the right message, no hint gives a number away, and the lesson's point holds."
    )
    parser.add_argument("what", choices=("check",), help="what to do")
    parser.add_argument("only", nargs="*", metavar="LESSON", help="which (default: all)")
    parser.add_argument("--students", type=int, default=_STUDENTS, metavar="N", help=f"how many (default: {_STUDENTS})")
    add_set(parser)
    add_exp(parser, "runs go")
    parser.set_defaults(run=_dev)


def _dev(arguments: argparse.Namespace) -> None:
    from wblab.kernels import built_kernels
    from wblab.lab.progress import bar
    from wblab.lessons.lesson import find
    from wblab.lessons.proof import faults, students
    from wblab.lessons.runs import made
    from wblab.lessons.whereabouts import lessons_of

    if arguments.students < 1:
        raise InputError("--students: at least 1")
    known, directory, resolve = lessons_of(arguments.set), results(arguments), built_kernels()
    chosen = [find(name, known) for name in arguments.only] or known
    bad = 0
    with bar("lessons") as report:
        for place, lesson in enumerate(chosen):
            found: list[str] = []
            if missing := lacking(lesson):
                print(f"{lesson.name}: left out: it needs a kernel: wblab kernel build {missing[0]}")
                continue
            for number, student in enumerate(students(arguments.students)):
                report((place + number / arguments.students) / len(chosen), f"{lesson.name}, {student.name}")
                try:
                    of_one = list(faults(lesson, student, lambda spec: made(spec, directory, resolve)))
                except InputError as error:
                    of_one = [str(error)]
                found += [f"{student.name}: {fault}" for fault in of_one]
            print(
                "\n".join(
                    map(
                        printable,
                        [f"{lesson.name}: {'not sound' if found else 'sound'}", *(f"  {fault}" for fault in found)],
                    )
                )
            )
            bad += bool(found)
    if bad:
        raise WblabError(f"{bad} of {len(chosen)} lessons are not sound")


def new_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Write the files of a new lesson, to be changed."
    parser.add_argument("name", metavar="NAME", help="its folder: 01-my-lesson")
    parser.add_argument(
        "--lessons", type=Path, dest="set", required=True, metavar="DIR", help="the directory of your lessons"
    )
    parser.set_defaults(run=_new)


def _new(arguments: argparse.Namespace) -> None:
    from wblab.lessons.lesson import TEMPLATE, is_name
    from wblab.machine.directory import made_whole

    if not is_name(arguments.name):
        raise InputError(f"{arguments.name!r} is no name of a lesson: write two digits and words, such as 01-my-lesson")
    path = arguments.set / arguments.name
    if os.path.lexists(path):
        raise InputError(f"{path} exists already: choose another name")
    try:
        with held(arguments.set, make=True) as directory, made_whole(directory, arguments.name) as whole:
            shutil.copytree(TEMPLATE, through(whole), dirs_exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    print_wrapped(
        [
            f"{path} has a lesson to change. Is it sound?",
            f"    wblab lesson dev check --lessons {shlex.quote(str(arguments.set))}",
        ]
    )


_RUNS = "grading"  # a directory of its own: students' runs are nobody's latest


def grade_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Grade the folders of a class: repeat each student's runs, and judge the answers by them. What only a person "
        "can judge is in the CSV file."
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="a student's folder")
    parser.add_argument("--course", metavar="NAME", help="the course (default: what each folder says)")
    parser.add_argument("--only", action="append", default=[], metavar="LESSON", help="grade only this one; repeatable")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="a row for each question")
    parser.add_argument("--table", type=Path, metavar="FILE", help="CSV as well: a row for each student")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML")
    parser.add_argument("--gradescope", type=Path, metavar="FILE", help="results.json of Gradescope, of one folder")
    add_set(parser)
    add_jobs(parser)
    add_exp(parser, f"the directory {_RUNS} of students' runs is")
    parser.set_defaults(run=_grade)


def _grade(arguments: argparse.Namespace) -> None:
    from wblab.host.machine import processors
    from wblab.kernels import built_kernels
    from wblab.lab.progress import bar
    from wblab.lessons import classmarks
    from wblab.lessons.grade import Submission, grade
    from wblab.lessons.lesson import find
    from wblab.lessons.runs import made
    from wblab.lessons.whereabouts import lessons_of

    if arguments.gradescope and len(arguments.folders) > 1:
        raise InputError("--gradescope: give one folder: Gradescope grades one at a time")
    for path in arguments.folders:
        if not os.path.isdir(path):
            raise InputError(f"no directory {path}: give students' folders, each with its progress.json")
    known, resolve = lessons_of(arguments.set), built_kernels()
    directory = results(arguments) / _RUNS
    chosen = [find(name, known) for name in arguments.only] or known
    given = [Submission(path, arguments.course) for path in arguments.folders]
    begun = {lesson.name: lesson for one in given for lesson in one.begun(chosen)}
    for name in ("", *(name for lesson in begun.values() for name in lesson.needs)):
        resolve(name)  # without a kernel, answers would count as wrong
    with bar("grading") as report:
        found = grade(
            given,
            chosen,
            lambda spec: made(spec, directory, resolve),
            arguments.jobs or processors(),
            report,
        )
    for name, write in (
        ("csv", classmarks.as_csv),
        ("table", classmarks.as_table),
        ("junit", classmarks.as_junit),
        ("gradescope", classmarks.as_gradescope),
    ):
        if path := getattr(arguments, name):
            _write(path, write(found))
    _show(found)
    if failed := sum(one.failed for one in found):
        raise WblabError(f"{failed} of {len(found)} could not be graded: see the notes")


def _show(found: "Sequence[Graded]") -> None:
    rows = [
        (
            one.folder,
            one.student.name,
            one.lesson,
            f"{one.points} of {len(one.counted)}" if one.judged else "",
            str(one.to_read or ""),
            one.note,
        )
        for one in found
    ]
    Listing(rows, ("folder", "student", "lesson", "right", "to read", "note")).show()
    if sentences := sum(one.to_read for one in found):
        what = (
            "1 sentence cites its run. It counts once a person has read it"
            if sentences == 1
            else f"{sentences} sentences cite their runs. They count once a person has read them"
        )
        print_wrapped(["", f"{what}: --csv FILE has them all."])


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
