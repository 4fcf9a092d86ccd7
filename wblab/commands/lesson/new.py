"""wblab lesson new."""

import argparse
import os
import shlex
import shutil
from pathlib import Path

from wblab.commands.common import print_wrapped
from wblab.core.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Write the files of a new lesson, to be changed."
    parser.add_argument("name", metavar="NAME", help="its folder: 01-my-lesson")
    parser.add_argument(
        "--lessons", type=Path, dest="set", required=True, metavar="DIR", help="the directory of your lessons"
    )
    parser.set_defaults(run=_new)


def _new(arguments: argparse.Namespace) -> None:
    from wblab.lab.held import held, through
    from wblab.lessons.lesson import TEMPLATE, is_name
    from wblab.machine.directory import made_whole

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
