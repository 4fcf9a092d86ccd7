"""wblab lesson hint."""

import argparse

from wblab.commands.common import print_wrapped
from wblab.commands.lesson.options import add_folder, place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Print the next hint for a question."
    parser.add_argument(
        "question", nargs="?", default="", metavar="QUESTION", help="which (default: the first open one)"
    )
    add_folder(parser)
    parser.set_defaults(run=_hint)


def _hint(arguments: argparse.Namespace) -> None:
    from wblab.lessons.sections import next_hint

    _, hint = next_hint(place(arguments), arguments.question)
    print_wrapped([str(hint)])
