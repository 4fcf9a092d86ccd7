"""wblab lesson grade, new and dev: what a lecturer does."""

import argparse
from pathlib import Path

from wblab.commands.common import add_exp, add_jobs
from wblab.lessons.verbs.lesson.options import add_set

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
    from wblab.lessons.verbs.lesson.teaching import dev

    dev(arguments)


def new_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Write the files of a new lesson, to be changed."
    parser.add_argument("name", metavar="NAME", help="its folder: 01-my-lesson")
    parser.add_argument(
        "--lessons", type=Path, dest="set", required=True, metavar="DIR", help="the directory of your lessons"
    )
    parser.set_defaults(run=_new)


def _new(arguments: argparse.Namespace) -> None:
    from wblab.lessons.verbs.lesson.teaching import new

    new(arguments)


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
    add_exp(parser, "the directory grading of students' runs is")
    parser.set_defaults(run=_grade)


def _grade(arguments: argparse.Namespace) -> None:
    from wblab.lessons.verbs.lesson.teaching import grade

    grade(arguments)
