"""The verbs of wblab lesson."""

import argparse

from wblab.commands.parser import Verb, add_verbs

VERBS = (
    Verb(
        "start",
        "begin a lesson",
        "learn",
        module="begin:start",
        forms=(
            Verb("list", "list the lessons, and how far you are", module="begin:list"),
            Verb("next", "begin the next lesson", module="begin:next"),
            Verb("anew", "begin a lesson anew", module="begin:reset"),
        ),
    ),
    Verb("check", "check your answers against your own run", "learn", module="answer:check"),
    Verb("hint", "get a hint", "learn", module="answer:hint"),
    Verb(
        "show",
        "read the explanation of a lesson that you solved",
        "learn",
        module="show:show",
        forms=(
            Verb("notebook", "write a lesson as a notebook", extras=("pages",), module="show:notebook"),
            Verb("page", "write a lesson as a page", extras=("pages",), module="show:page"),
            Verb("pictures", "draw the pictures of a lecture", module="show:pictures"),
        ),
    ),
    Verb("grade", "grade the folders of a class", "teach", module="teach:grade"),
    Verb("new", "write the files of a lesson of your own", "teach", module="teach:new"),
    Verb("dev", "check lessons themselves", "teach", module="teach:dev"),
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
    from wblab.lessons.verbs.lesson.answer import go_on

    go_on(arguments)
