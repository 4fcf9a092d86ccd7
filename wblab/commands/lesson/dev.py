"""wblab lesson dev: check lessons themselves."""

import argparse

from wblab.commands.common import add_exp, results
from wblab.commands.lesson.options import add_set, lacking
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

_STUDENTS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
    from wblab.lessons.place import lessons_of
    from wblab.lessons.proof import faults, students
    from wblab.lessons.runs import made

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
