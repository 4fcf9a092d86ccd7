"""Check the lesson where a student is, and say what came out."""

import json
import shlex
from typing import TYPE_CHECKING

from wblab.commands.common import print_wrapped
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.lessons.check import Checked
    from wblab.lessons.place import Place


_LOOKS = ("why --pauses", "why", "timeline")


def checked(at: "Place") -> "tuple[Place, Checked]":
    """Check the current lesson, keep what came out, and return both. Raises WblabError."""
    from wblab.lessons.check import checked, maker

    return checked(at, maker(at))


def say(at: "Place", found: "Checked", *, as_json: bool = False) -> None:
    """Print what a check found, and what to do next."""
    from wblab.lessons.check import WORDS

    if as_json:
        judged = [{"question": one.question, "outcome": one.outcome, "says": one.says} for one in found.judged]
        run = str(found.run) if found.run else None
        print(json.dumps({"lesson": at.lesson.name, "solved": found.solved, "run": run, "answers": judged}, indent=2))
        return
    print_wrapped([f"{at.lesson.name}: {at.lesson.title}"])
    Table([(f"  {one.question}", WORDS[one.outcome], one.says) for one in found.judged]).show()
    print_wrapped(["", *_next(at, found)])


def _next(at: "Place", found: "Checked") -> list[str]:
    """Return what to do next."""
    from wblab.lessons.folder import ANSWER
    from wblab.lessons.lesson import TEXT

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
