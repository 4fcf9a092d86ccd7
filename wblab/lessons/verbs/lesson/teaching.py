"""What a lecturer's verbs do: wblab lesson grade, new, dev, and show --pictures."""

import argparse
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from wblab.analysis.runs.run import Run
from wblab.commands.common import print_wrapped, results
from wblab.core.errors import InputError, WblabError
from wblab.host.machine import processors
from wblab.kernels import built_kernels
from wblab.lab.held import held, through
from wblab.lab.printable import printable
from wblab.lab.progress import bar
from wblab.lessons import classmarks
from wblab.lessons.grade import Graded, Submission
from wblab.lessons.grade import grade as graded
from wblab.lessons.lesson import TEMPLATE, find, is_name
from wblab.lessons.proof import faults, lecture, students
from wblab.lessons.runs import made
from wblab.lessons.student import Student
from wblab.lessons.verbs.lesson.options import lacking
from wblab.lessons.whereabouts import lessons_of
from wblab.machine.directory import made_whole
from wblab.report.listing import Listing

RUNS = "grading"  # a directory of its own: students' runs are nobody's latest


def dev(arguments: argparse.Namespace) -> None:
    """Check lessons. Raises InputError, and WblabError for lessons that are not sound."""
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


def new(arguments: argparse.Namespace) -> None:
    """Write the files of a new lesson. Raises InputError."""
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


def grade(arguments: argparse.Namespace) -> None:
    """Grade folders. Raises InputError, and WblabError for those that cannot be graded."""
    if arguments.gradescope and len(arguments.folders) > 1:
        raise InputError("--gradescope: give one folder: Gradescope grades one at a time")
    for path in arguments.folders:
        if not os.path.isdir(path):
            raise InputError(f"no directory {path}: give students' folders, each with its progress.json")
    known, resolve = lessons_of(arguments.set), built_kernels()
    directory = results(arguments) / RUNS
    chosen = [find(name, known) for name in arguments.only] or known
    given = [Submission(path, arguments.course) for path in arguments.folders]
    begun = {lesson.name: lesson for one in given for lesson in one.begun(chosen)}
    for name in ("", *(name for lesson in begun.values() for name in lesson.needs)):
        resolve(name)  # without a kernel, answers would count as wrong
    with bar("grading") as report:
        found = graded(
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


def _show(found: Sequence[Graded]) -> None:
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


def pictures(arguments: argparse.Namespace) -> None:
    """Draw the pictures of a lecture. Raises InputError."""
    known, directory, resolve = lessons_of(arguments.set), results(arguments), built_kernels()
    chosen = [find(name, known) for name in arguments.only] or known
    for lesson in [one for one in chosen if lacking(one)]:
        print(f"{lesson.name}: left out: it needs a kernel: wblab kernel build {lacking(lesson)[0]}")
        chosen.remove(lesson)
    wanted = [each for lesson in chosen for each in lecture(lesson, Student(arguments.student))]
    try:
        arguments.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make {arguments.directory}: {error.strerror}") from None
    with bar("pictures") as report:
        for place, (name, spec) in enumerate(wanted):
            report(place / len(wanted), name)
            output = arguments.directory / f"{name}.{arguments.format}"
            _draw(made(spec, directory, resolve), output)
            print(printable(str(output)))


def _draw(run: Run, output: Path) -> None:
    from wblab.analysis.runs.lanes import lanes_of  # here, as grading needs no Matplotlib
    from wblab.plot.lanespicture import lanes_picture
    from wblab.plot.picture import save

    save(lanes_picture([lanes_of(run)]), run.name, output)
