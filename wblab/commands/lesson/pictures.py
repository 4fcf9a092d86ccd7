"""wblab lesson show --pictures."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, results
from wblab.commands.lesson.options import add_set, lacking
from wblab.core.errors import InputError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.analysis.runs.run import Run

_STUDENT = "lecture"
_DIRTY = "dirty state"
_FORMATS = ("png", "svg", "pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Draw the pictures of a lecture: the timeline of each lesson's run, and of the runs that its reference answers "
        "give. Print the names of the files."
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="where the pictures go")
    parser.add_argument("only", nargs="*", metavar="LESSON", help="which (default: all)")
    parser.add_argument("--student", default=_STUDENT, metavar="NAME", help=f"whose numbers (default: {_STUDENT})")
    parser.add_argument("--format", choices=_FORMATS, default=_FORMATS[0], help=f"file format (default: {_FORMATS[0]})")
    add_set(parser)
    add_exp(parser, "runs go")
    parser.set_defaults(run=_pictures)


def _pictures(arguments: argparse.Namespace) -> None:
    from wblab.kernels import built_kernels
    from wblab.lab.progress import bar
    from wblab.lessons.lecture import shown
    from wblab.lessons.lesson import find
    from wblab.lessons.place import lessons_of
    from wblab.lessons.runs import Student, made

    known, directory, resolve = lessons_of(arguments.set), results(arguments), built_kernels()
    chosen = [find(name, known) for name in arguments.only] or known
    for lesson in [one for one in chosen if lacking(one)]:
        print(f"{lesson.name}: left out: it needs a kernel: wblab kernel build {lacking(lesson)[0]}")
        chosen.remove(lesson)
    wanted = [each for lesson in chosen for each in shown(lesson, Student(arguments.student))]
    try:
        arguments.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make {arguments.directory}: {error.strerror}") from None
    with bar("pictures") as report:
        for place, (name, spec) in enumerate(wanted):
            report(place / len(wanted), name)
            output = arguments.directory / f"{name}.{arguments.format}"
            _draw(made(spec, directory, resolve), output)
            print(printable(str(output)))


def _draw(run: "Run", output: Path) -> None:
    from wblab.api.recorded import Run
    from wblab.plot.picture import picture
    from wblab.plot.save import save

    whole = Run.of(run.path).panes(None)
    wanted = {_DIRTY, *(item.name for item in run.loads if item.load.role != "control")}
    few = replace(whole, panes=[pane for pane in whole.panes if pane.name in wanted])  # it has to fit on a slide
    save(picture(few), run.name, output)
