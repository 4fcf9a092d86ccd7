"""wblab lesson hint."""

import argparse

from wblab.commands.common import print_wrapped
from wblab.commands.lesson.options import Place, add_folder, place
from wblab.core.errors import InputError, nearest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Print the next hint for a question."
    parser.add_argument(
        "question", nargs="?", default="", metavar="QUESTION", help="which (default: the first open one)"
    )
    add_folder(parser)
    parser.set_defaults(run=_hint)


def _hint(arguments: argparse.Namespace) -> None:
    at = place(arguments)
    name = arguments.question or _open(at)
    if name not in at.lesson.question:
        raise InputError(f"no question {name!r} in {at.lesson.name}{nearest(name, list(at.lesson.question))}")
    hints, shown = at.state.who.questions(at.lesson)[name].hints, at.state.of(at.lesson).hints
    if not hints:
        raise InputError(f"{name} has no hints: read the lesson once more")
    number = min(shown.get(name, 0) + 1, len(hints))
    at.keep(hints=shown | {name: number})
    print_wrapped([f"{name}, hint {number} of {len(hints)}: {hints[number - 1]}"])


def _open(at: Place) -> str:
    """Return the first question with hints that is not answered, or else the first with hints left."""
    answers, shown = at.folder.answers(at.lesson), at.state.of(at.lesson).hints
    hinted = {name: one for name, one in at.lesson.question.items() if one.hints}
    unanswered = [name for name in hinted if not str(answers.get(name, "")).strip()]
    left = [name for name, one in hinted.items() if shown.get(name, 0) < len(one.hints)]
    found = [name for name in unanswered if name in left] or left or unanswered or list(hinted)
    if not found:
        raise InputError(f"{at.lesson.name} has no hints: read the lesson once more")
    return found[0]
