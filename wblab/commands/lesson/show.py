"""wblab lesson show."""

import argparse
import sys

from wblab.commands.lesson.options import add_folder, add_lesson, place
from wblab.core.errors import InputError
from wblab.lab.printable import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Print the explanation of a lesson that you solved."
    add_lesson(parser)
    add_folder(parser)
    parser.set_defaults(run=_show)


def _show(arguments: argparse.Namespace) -> None:
    from wblab.lessons.lesson import EXPLANATION

    at = place(arguments, arguments.lesson)
    if not at.state.of(at.lesson).solved:
        raise InputError(f"solve {at.lesson.name} first: wblab lesson check")
    print_markdown(at.state.who.text(at.lesson, EXPLANATION))


def print_markdown(text: str) -> None:
    """Print Markdown: laid out on a terminal, as it is elsewhere."""
    if not sys.stdout.isatty():
        print("\n".join(map(printable, text.splitlines())))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
