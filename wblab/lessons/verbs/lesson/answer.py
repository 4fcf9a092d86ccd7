"""wblab lesson check and hint: a student's answers, once or as soon as each is saved."""

import argparse
import json
import shlex
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_json, print_wrapped
from wblab.core.errors import WblabError
from wblab.lab.printable import printable
from wblab.lessons.folder import ANSWER
from wblab.lessons.lesson import TEXT
from wblab.lessons.verbs.lesson.begin import say_begun
from wblab.lessons.verbs.lesson.options import add_folder, add_lesson, folder, place
from wblab.lessons.whereabouts import LessonPlace
from wblab.report.listing import Listing

if TYPE_CHECKING:
    from wblab.lessons.check import Checked


_LOOKS = ("why --pauses", "why", "timeline")


def checked(at: LessonPlace) -> "tuple[LessonPlace, Checked]":
    """Check the current lesson, keep what came out, and return both. Raises WblabError."""
    from wblab.lessons.check import checked, maker

    return checked(at, maker(at))


def say(at: LessonPlace, found: "Checked", *, as_json: bool = False) -> None:
    """Print what a check found, and what to do next."""
    from wblab.lessons.check import WORDS

    if as_json:
        judged = [{"question": one.question, "outcome": one.outcome, "says": one.says} for one in found.judged]
        run = str(found.run) if found.run else None
        print(json.dumps({"lesson": at.lesson.name, "solved": found.solved, "run": run, "answers": judged}, indent=2))
        return
    print_wrapped([f"{at.lesson.name}: {at.lesson.title}"])
    Listing([(f"  {one.question}", WORDS[one.outcome], one.says) for one in found.judged]).show()
    if found.run:
        _draw(found.run)
    print_wrapped(["", *_next(at, found)])


def _draw(path: Path) -> None:
    """Draw the lanes of a student's run, if a load of it was frozen."""
    from wblab.analysis.runs.lanes import lanes_of
    from wblab.analysis.runs.run import read_run
    from wblab.report.lanestext import lanes_lines

    with suppress(WblabError):  # what was found is said without a picture, too
        if drawn := lanes_lines([lanes_of(read_run(path))]):
            print("\n".join(["", *drawn]))


def _next(at: LessonPlace, found: "Checked") -> list[str]:
    """Return what to do next."""
    answer = at.directory / ANSWER
    if found.run is None:
        return [f"First write down what you expect, in {answer}."]
    if found.solved and at.lesson.name == at.lessons[-1].name:
        return ["Solved, and it was the last lesson. Read why:", "    wblab lesson show"]
    if found.solved:
        return ["Solved. Read why, then go on:", "    wblab lesson show", "    wblab lesson start --next"]
    text = at.lesson.read(TEXT)
    looks = [verb for verb in _LOOKS if f"wblab {verb} " in text]
    lines = ["Look at your run:" if looks else f"Your run is {found.run}."]
    lines += [f"    wblab {verb} {shlex.quote(str(found.run))}" for verb in looks]
    unsolved = [one.question for one in found.judged if one.outcome in ("wrong", "missing")]
    changes = [name for name in unsolved if at.lesson.question[name].kind == "change"]
    if len(changes) < len(unsolved):
        lines.append(f"Then write what you found into {answer}.")
    if changes:
        lines.append(f"To be changed: {', '.join(str(at.directory / f'{name}.toml') for name in changes)}.")
    if hinted := [name for name in unsolved if at.lesson.question[name].hints]:
        lines += ["If you are stuck:", f"    wblab lesson hint {hinted[0]}"]
    return lines


def hint_arguments(parser: argparse.ArgumentParser) -> None:
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


def check_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Check your answers: repeat your run, and say what is right, and what is off by how much."
    add_lesson(parser)
    add_folder(parser)
    add_json(parser)
    parser.set_defaults(run=_check)


def _check(arguments: argparse.Namespace) -> None:
    at, found = checked(place(arguments, arguments.lesson))
    say(at, found, as_json=arguments.json)


_EACH_S = 0.5


def go_on(arguments: argparse.Namespace) -> None:
    """Check the current lesson; on a terminal, check it again whenever a file of it is saved, until interrupted."""
    if not folder(arguments).begun():
        print_wrapped(
            [
                "No lesson is begun here. Begin with the first:",
                "    wblab lesson start 1",
                "",
                "All lessons:",
                "    wblab lesson start --list",
            ]
        )
        return
    say_begun(at := place(arguments))
    if not sys.stdout.isatty():
        return
    before = _saved(at)  # a file that is saved as soon as the next line is read counts
    print_wrapped(["", "Waiting for you to save a file. Ctrl-C ends."])
    try:
        _watch(arguments, at, before)
    except KeyboardInterrupt:
        print()


def _watch(arguments: argparse.Namespace, at: LessonPlace, before: dict[str, int]) -> None:
    while True:
        time.sleep(_EACH_S)
        if (now := _saved(at)) == before:
            continue
        before = now
        print()
        try:
            say(*checked(place(arguments)))
        except WblabError as error:
            print(printable(f"wblab: {error}"))


def _saved(at: LessonPlace) -> dict[str, int]:
    """Return when each file of the current lesson was last saved."""
    found = {}
    for path in sorted(at.directory.glob("*.toml")):
        try:
            found[path.name] = path.stat().st_mtime_ns
        except OSError:  # an editor may be replacing it
            continue
    return found
