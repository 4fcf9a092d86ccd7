"""wblab lesson show: a lesson to read, also as a notebook, a page, or pictures of a lecture."""

import argparse
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from wblab.commands.common import add_exp, add_output, format_of, print_wrapped
from wblab.core.errors import InputError
from wblab.lab import extras
from wblab.lab.printable import printable
from wblab.lessons.lesson import EXPLANATION
from wblab.lessons.verbs.lesson.options import add_folder, add_lesson, add_set, place

_STUDENT = "lecture"
_PICTURES = ("png", "svg", "pdf")


def pictures_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Draw the pictures of a lecture: the lanes of each lesson's run, and of the runs that its reference answers "
        "give. Print the names of the files."
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="where the pictures go")
    parser.add_argument("only", nargs="*", metavar="LESSON", help="which (default: all)")
    parser.add_argument("--student", default=_STUDENT, metavar="NAME", help=f"whose numbers (default: {_STUDENT})")
    parser.add_argument(
        "--format", choices=_PICTURES, default=_PICTURES[0], help=f"file format (default: {_PICTURES[0]})"
    )
    add_set(parser)
    add_exp(parser, "runs go")
    parser.set_defaults(run=_pictures)


def _pictures(arguments: argparse.Namespace) -> None:
    from wblab.lessons.verbs.lesson.teaching import pictures

    pictures(arguments)


def notebook_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Write a lesson as a notebook into its directory, beside the files that it reads and writes: answer in "
        "JupyterLab or in a terminal, as you like. A notebook that is there already is kept."
    )
    add_lesson(parser)
    add_folder(parser)
    parser.set_defaults(run=_notebook)


def _notebook(arguments: argparse.Namespace) -> None:
    from wblab.lessons.notebook.lessoncells import NOTEBOOK, notebook

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


_FORMATS = ("html",)


def page_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Write a lesson as one HTML page with your numbers: its text, questions and hints. Once you solved it, the "
        "explanation is on it, too."
    )
    add_lesson(parser)
    add_folder(parser)
    add_output(parser, "where to write it (default: lesson.html beside the lesson's files)", _FORMATS)
    parser.set_defaults(run=_page)


def _page(arguments: argparse.Namespace) -> None:
    from wblab.lessons.page import PAGE, page_of
    from wblab.report.page import write_page

    format_of(arguments, _FORMATS)
    at = place(arguments, arguments.lesson)
    page = page_of(at)
    if arguments.output:
        write_page(arguments.output, page)
    else:
        at.folder.put(at.lesson, PAGE, page)
    print(printable(str(arguments.output or at.directory / PAGE)))


def show_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Print the explanation of a lesson that you solved."
    add_lesson(parser)
    add_folder(parser)
    parser.set_defaults(run=_show)


def _show(arguments: argparse.Namespace) -> None:
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
