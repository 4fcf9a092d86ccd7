"""wblab lesson show --page."""

import argparse

from wblab.commands.common import add_output, format_of
from wblab.commands.lesson.options import add_folder, add_lesson, place
from wblab.lab.printable import printable

_FORMATS = ("html",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
    from wblab.report.render import write_page

    format_of(arguments, _FORMATS)
    at = place(arguments, arguments.lesson)
    page = page_of(at)
    if arguments.output:
        write_page(arguments.output, page)
    else:
        at.folder.put(at.lesson, PAGE, page)
    print(printable(str(arguments.output or at.directory / PAGE)))
