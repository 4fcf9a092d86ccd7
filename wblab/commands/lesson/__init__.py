"""The verbs of wblab lesson."""

import argparse

from wblab.commands.parser import Verb, add_verbs

VERBS = (
    Verb(
        "start",
        "begin a lesson",
        "learn",
        forms=(
            Verb("list", "list the lessons, and how far you are"),
            Verb("next", "begin the next lesson"),
            Verb("anew", "begin a lesson anew", module="reset"),
        ),
    ),
    Verb("check", "check your answers against your own run", "learn"),
    Verb("hint", "get a hint", "learn"),
    Verb(
        "show",
        "read the explanation of a lesson that you solved",
        "learn",
        forms=(
            Verb("notebook", "write a lesson as a notebook", extras=("pages",)),
            Verb("page", "write a lesson as a page", extras=("pages",)),
            Verb("pictures", "draw the pictures of a lecture"),
        ),
    ),
    Verb("grade", "grade the folders of a class", "teach"),
    Verb("new", "write the files of a lesson of your own", "teach"),
    Verb("dev", "check lessons themselves", "teach"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and add its own verbs."""
    parser.description = (
        "Lessons on writeback, with experiments whose numbers are your own. Without a verb: go on where you are; on a "
        "terminal, check each answer as soon as it is saved."
    )
    add_verbs(parser, VERBS, __name__, required=False)
    parser.set_defaults(run=_go_on, folder=None)


def _go_on(arguments: argparse.Namespace) -> None:
    from wblab.commands.lesson.watch import go_on

    go_on(arguments)
