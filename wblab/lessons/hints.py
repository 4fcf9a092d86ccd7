"""Hints: each question's are given one after another, and how many were given is kept."""

from dataclasses import dataclass

from wblab.core.errors import InputError
from wblab.lessons.place import Place


@dataclass(frozen=True)
class Hint:
    """One hint for a question: number `number` of `of`."""

    question: str
    number: int
    of: int
    text: str

    def __str__(self) -> str:
        return f"{self.question}, hint {self.number} of {self.of}: {self.text}"


def next_hint(at: Place, question: str = "") -> tuple[Place, Hint]:
    """Return the next hint for a question, or for the first open one, once it is kept. Raises InputError."""
    name = question or _open(at)
    if name not in at.lesson.question:
        known = ", ".join(at.lesson.question)
        raise InputError(f"no question {name!r} in {at.lesson.name}, which asks {known}")
    hints, shown = at.state.who.questions(at.lesson)[name].hints, at.state.of(at.lesson).hints
    if not hints:
        raise InputError(f"the question {name!r} has no hints: read the lesson once more")
    number = min(shown.get(name, 0) + 1, len(hints))
    return at.keep(hints=shown | {name: number}), Hint(name, number, len(hints), hints[number - 1])


def _open(at: Place) -> str:
    """Return the first question with hints that is not answered, or else the first with hints left."""
    answers, shown = at.folder.answers(at.lesson), at.state.of(at.lesson).hints
    hinted = {name: one for name, one in at.lesson.question.items() if one.hints}
    unanswered = [
        name for name, one in hinted.items() if one.kind != "change" and not str(answers.get(name, "")).strip()
    ]
    left = [name for name, one in hinted.items() if shown.get(name, 0) < len(one.hints)]
    changes = [name for name, one in hinted.items() if one.kind == "change"]
    found = [name for name in (*unanswered, *changes) if name in left] or left or unanswered or list(hinted)
    if not found:
        raise InputError(f"{at.lesson.name} has no hints: read the lesson once more")
    return found[0]
