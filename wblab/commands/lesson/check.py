"""wblab lesson check."""

import argparse

from wblab.commands.common import add_json
from wblab.commands.lesson.options import add_folder, add_lesson, place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Check your answers: repeat your run, and say what is right, and what is off by how much."
    add_lesson(parser)
    add_folder(parser)
    add_json(parser)
    parser.set_defaults(run=_check)


def _check(arguments: argparse.Namespace) -> None:
    from wblab.commands.lesson.checked import checked, say

    at, found = checked(place(arguments, arguments.lesson))
    say(at, found, as_json=arguments.json)
