"""wblab lesson start --next."""

import argparse
from dataclasses import replace

from wblab.commands.lesson.options import add_folder, place
from wblab.core.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Begin the lesson after the current one."
    add_folder(parser)
    parser.set_defaults(run=_next)


def _next(arguments: argparse.Namespace) -> None:
    from wblab.commands.lesson.start import begin

    at = place(arguments)
    names = [lesson.name for lesson in at.lessons]
    if (number := names.index(at.lesson.name) + 1) == len(names):
        raise InputError(f"{at.lesson.name} is the last lesson: wblab lesson start --list")
    begin(replace(at, lesson=at.lessons[number]))
