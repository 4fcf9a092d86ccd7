"""wblab lesson show --notebook."""

import argparse
import os
import shlex
import sys
from importlib.util import find_spec

from wblab.commands.common import print_wrapped
from wblab.commands.lesson.options import add_folder, add_lesson, place
from wblab.lab import extras


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Write a lesson as a notebook into its directory, beside the files that it reads and writes: answer in "
        "JupyterLab or in a terminal, as you like. A notebook that is there already is kept."
    )
    add_lesson(parser)
    add_folder(parser)
    parser.set_defaults(run=_notebook)


def _notebook(arguments: argparse.Namespace) -> None:
    from wblab.lessons.notebook.cells import NOTEBOOK, notebook

    at = place(arguments, arguments.lesson)
    is_new = at.folder.add(at.lesson, NOTEBOOK, notebook(at.lesson, at.state.who))
    path = at.directory / NOTEBOOK
    there = extras.is_there("notebooks") and find_spec("jupyterlab") is not None
    as_root = [] if os.geteuid() else ["--allow-root"]
    missing = ["JupyterLab is not installed here. Install it:", f"    {extras.command(['notebooks'])}"]
    print_wrapped(
        [
            f"{path} has the lesson." if is_new else f"{path} is there already, and is kept. Remove it to begin anew.",
            *([] if there else missing),
            "Open it in a browser:",
            f"    {shlex.join([sys.executable, '-m', 'jupyterlab', *as_root, str(path)])}",
        ]
    )
