"""wblab lesson start --anew."""

import argparse
import shlex
from pathlib import Path

from wblab.commands.common import print_wrapped
from wblab.commands.lesson.options import add_folder, add_lesson, place


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Begin a lesson anew. Your files are kept under another name."
    add_lesson(parser)
    add_folder(parser)
    parser.set_defaults(run=_reset)


def _reset(arguments: argparse.Namespace) -> None:
    at = place(arguments, arguments.lesson)
    kept = at.folder.reset(at.lesson, at.state.who)
    at.keep(expected={}, digest="", made_with={}, hints={}, solved="")
    elsewhere = at.directory != Path()  # a shell in the lesson's directory is now in the one that is kept
    there = ["Go on in the new directory:", f"    cd {shlex.quote(str(at.directory))}"] if elsewhere else []
    print_wrapped([f"{at.lesson.name} is as it was at the start. Your files are in {kept}.", *there])
