"""Judge a student's answers by the figures of the student's own run."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from wblab.core.errors import InputError
from wblab.lessons.figures import LessonFigures
from wblab.lessons.lesson import Held, Question
from wblab.lessons.numbers import cited, read, unit_of, written
from wblab.report.quantities import enumerated

Outcome = Literal["right", "wrong", "missing", "kept", "read"]

_CITED_PERCENT = 5
_MISTAKEN_PERCENT = 10  # figures are printed with few digits
_FEWEST_WORDS = 5
_OTHER_UNIT, _TWICE = 500, 2
_WHOLE = 10  # times that are written without a fraction


@dataclass(frozen=True)
class JudgedAnswer:
    """What is said of an answer.

    kept: a prediction, which is compared and not graded. read: a sentence that cites the run; whether it is true, only
    a person can judge, who reads by_person.
    """

    question: str
    outcome: Outcome
    says: str
    by_person: str = ""


def judge(
    questions: Mapping[str, Question],
    answers: Mapping[str, object],
    run: LessonFigures,
    changed: Mapping[str, LessonFigures | str],
) -> list[JudgedAnswer]:
    """Return what is said of each answer.

    run: the figures of the student's run. changed: those of the changed run, by question, or why there is none.
    """
    found = []
    for name, question in questions.items():
        if question.kind == "change":
            found.append(_change(name, question, changed.get(name, "")))
        else:
            found.append(_judged(name, question, answers.get(name), changed[question.of] if question.of else run))
    return found


def _judged(name: str, question: Question, answer: object, run: LessonFigures | str) -> JudgedAnswer:
    if answer is None or not str(answer).strip():
        return JudgedAnswer(name, "missing", "not answered yet")
    if isinstance(run, str):
        if question.kind == "predict":
            return JudgedAnswer(name, "kept", f"compared once you have changed {question.of}.toml")
        return JudgedAnswer(name, "wrong", f"it is about a changed run: first change {question.of}.toml")
    try:
        return _JUDGES[question.kind](name, question, answer, run)
    except InputError as error:
        return JudgedAnswer(name, "wrong", str(error))


def _number(name: str, question: Question, answer: object, run: LessonFigures) -> JudgedAnswer:
    number, figure = read(answer, question.unit), run[question.figure]
    if number.is_near(figure, question.percent):
        return JudgedAnswer(name, "right", f"right: {written(figure, question.unit)}")
    for mistake in question.mistakes:
        if number.is_near(run[mistake.figure], max(question.percent, _MISTAKEN_PERCENT)):
            return JudgedAnswer(name, "wrong", mistake.says)
    return JudgedAnswer(name, "wrong", _off(number.value, figure, question.unit))


def _predicted(name: str, question: Question, answer: object, run: LessonFigures) -> JudgedAnswer:
    number, figure = read(answer, question.unit), run[question.figure]
    value = number.value
    if number.is_near(figure, question.percent):
        compared = "about right"
    elif not figure:
        compared = f"it is {written(figure, question.unit)}"
    elif not value:
        compared = "it is more"
    else:
        times = max(value / figure, figure / value)
        compared = f"it is {times:.{0 if times >= _WHOLE else 1}f} times {'less' if value > figure else 'more'}"
    typed = str(answer).strip()
    expected = typed if unit_of(typed) else f"{typed} {question.unit}".strip()
    return JudgedAnswer(name, "kept", f"you expected {expected}; {compared}")


def _choice(name: str, question: Question, answer: object, run: LessonFigures) -> JudgedAnswer:
    right = max(question.by, key=lambda option: run[question.by[option]]) if question.by else question.right
    if not isinstance(answer, str) or answer not in question.options:
        return JudgedAnswer(name, "wrong", f"{str(answer)[:40]!r} is not one of {', '.join(question.options)}")
    if answer == right:
        return JudgedAnswer(name, "right", "right")
    return JudgedAnswer(name, "wrong", f"not {answer}: look again")


def _sentence(name: str, question: Question, answer: object, run: LessonFigures) -> JudgedAnswer:
    text = str(answer)
    numbers = cited(text)
    found = [figure for figure in question.cites if any(one.is_near(run[figure], _CITED_PERCENT) for one in numbers)]
    if len(re.findall(r"[^\W\d_]{2,}", text)) < _FEWEST_WORDS:
        return JudgedAnswer(
            name, "wrong", f"write a sentence of at least {_FEWEST_WORDS} words that answers the question"
        )
    if more := max(0, question.enough - len(found)):
        figure = "1 figure" if more == 1 else f"{more} figures"
        return JudgedAnswer(name, "wrong", f"cite {figure} more of your run, with a unit: 0.25 s")
    # Words do not make a sentence true, and a true one may have others: neither is refused for its words.
    lacking = [what for what, words in question.names.items() if not _names(text, words)]
    says = "it cites your run; a person reads whether it is true"
    if lacking:
        says = (
            f"it cites your run, but seems to leave out {enumerated(lacking)}. "
            "If it says that in other words, leave it: a person reads it"
        )
    return JudgedAnswer(name, "read", says, by_person=text)


def _names(text: str, words: Iterable[str]) -> bool:
    return any(word.lower() in text.lower() for word in words)


def _change(name: str, question: Question, changed: LessonFigures | str) -> JudgedAnswer:
    if isinstance(changed, str):
        return JudgedAnswer(name, "wrong" if changed else "missing", changed or "nothing is changed yet")
    if failing := [held for held in question.holds if not held.holds(changed)]:
        return JudgedAnswer(name, "wrong", "; ".join(_failing(failing, changed)))
    return JudgedAnswer(name, "right", "right: it does what was asked")


def _failing(failing: list[Held], run: LessonFigures) -> Iterator[str]:
    for held in failing:
        bounds = [f"{which} {end}" for which, end in _ends(held) if end]
        yield f"{held.says or held.figure}: {written(run[held.figure], held.unit)}, wanted: {' and '.join(bounds)}"


def _ends(held: Held) -> tuple[tuple[str, str], ...]:
    return ("at least", held.least), ("at most", held.most), (f"within {held.percent} % of", held.near)


def _off(value: float, figure: float, unit: str) -> str:
    """Return how far a number is off, without the figure itself."""
    if not figure or not value:
        return "too large" if value else "too small"
    times = max(value / figure, figure / value)
    side = "large" if value > figure else "small"
    if times > _OTHER_UNIT and unit:
        return f"far too {side}: check the unit"
    if times > _TWICE:
        return f"{times:.{0 if times >= _WHOLE else 1}f} times too {side}"
    return f"{abs(value / figure - 1) * 100:.0f} % too {side}"


_JUDGES = {"predict": _predicted, "number": _number, "choice": _choice, "sentence": _sentence}
