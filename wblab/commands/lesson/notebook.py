"""wblab lesson show --notebook."""

import argparse
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

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
    is_kept = f"{path} is there already, and is kept. Remove it to begin anew."
    print_wrapped([f"{path} has the lesson." if is_new else is_kept, *how_to_open(path)])


def how_to_open(path: Path, here: extras.Installation | None = None) -> list[str]:
    """Return the command that opens a notebook, and first the one that installs what this needs. here: the lab's."""
    here = here or extras.Installation()
    there = here.has("notebooks") and find_spec("jupyterlab") is not None
    as_root = [] if os.geteuid() else ["--allow-root"]
    missing = ["JupyterLab is not installed here. Install it:", f"    {extras.command(['notebooks'], here)}"]
    command = shlex.join([sys.executable, "-m", "jupyterlab", *as_root, str(path)])
    return [*([] if there else missing), "Open it in a browser:", f"    {command}"]
