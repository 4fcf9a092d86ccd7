"""The sections of a lesson's text, each with the questions that it names and with what it says to look at."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Literal

from wblab.core.errors import InputError
from wblab.lab.formats import CONSOLE
from wblab.lessons.lesson import Kind, Question
from wblab.lessons.markdown import code_lines, code_spans, tokens
from wblab.lessons.whereabouts import LessonPlace

# Hints: each question's are given one after another, and how many were given is kept.


@dataclass(frozen=True)
class Hint:
    """One hint for a question: number `number` of `of`."""

    question: str
    number: int
    of: int
    text: str

    def __str__(self) -> str:
        return f"{self.question}, hint {self.number} of {self.of}: {self.text}"


def next_hint(at: LessonPlace, question: str = "") -> tuple[LessonPlace, Hint]:
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


def _open(at: LessonPlace) -> str:
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


View = Literal["pauses", "timeline", "why", "printed", "seeds", "compare"]

_STEPS: Mapping[Kind, str] = {
    "predict": "predict",
    "number": "look",
    "choice": "look",
    "sentence": "explain",
    "change": "change",
}

_IS_NAME = re.compile("[a-z][a-z-]*")  # of a program or a verb
_MOST_NAMES = 3  # of a command: wblab kernel build


@dataclass(frozen=True)
class SectionLook:
    """What a text says to look at. of: the change whose run it is of, or else the student's own.

    around: a load whose longest pause a timeline shows. words: of lines that the run's programs printed. evidence:
    whether each pause is shown with the kernel's functions and the trace's events. load: the only one whose pauses are
    explained. Of the runs of all specs: load, the one whose longest pauses are shown or compared; metric and by, what
    is compared and the key that runs differ in.
    """

    view: View
    of: str = ""
    around: str = ""
    words: str = ""
    evidence: bool = False
    load: str = ""
    metric: str = ""
    by: str = ""


@dataclass(frozen=True)
class LessonSection:
    """A part of a text: its heading, its Markdown with the heading, its questions and looks, each in order.

    terminal: the names of its commands that a terminal runs, and nothing else here.
    """

    heading: str
    text: str
    questions: tuple[str, ...] = ()
    looks: tuple[SectionLook, ...] = ()
    terminal: tuple[str, ...] = ()


def sections(text: str, questions: Mapping[str, Question]) -> list[LessonSection]:
    """Return the sections of a text; the first is what stands before any heading of the second level.

    A question belongs to the first section that names it, or its file, in backquotes; else to the section of its step.
    """
    parts = list(_parts(text))
    found = [tokens(part) for _, part in parts]
    named = [set(code_spans(each)) for each in found]
    places: dict[str, int] = {}
    for name, question in questions.items():
        within = (place for place, names in enumerate(named) if place and {name, f"{name}.toml"} & names)
        step = (place for place, (heading, _) in enumerate(parts) if _STEPS[question.kind] in heading.lower())
        places[name] = next(within, next(step, len(parts) - 1))
    latest, made = "", []
    for place, (heading, part) in enumerate(parts):
        looks, terminal, latest = _read(code_lines(found[place]), questions, latest)
        made.append(
            LessonSection(heading, part, tuple(name for name, at in places.items() if at == place), looks, terminal)
        )
    return made


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield each section's heading and text."""
    lines = text.splitlines(keepends=True)
    found = tokens(text)
    starts = [
        (token.map[0], found[place + 1].content)
        for place, token in enumerate(found)
        if token.type == "heading_open" and token.tag == "h2" and token.level == 0 and token.map
    ]
    ends = [*(line for line, _ in starts), len(lines)]
    yield "", "".join(lines[: ends[0]]).strip()
    for (start, heading), end in zip(starts, ends[1:], strict=True):
        yield heading, "".join(lines[start:end]).strip()


def _read(
    commands: Iterable[str], questions: Mapping[str, Question], latest: str
) -> tuple[tuple[SectionLook, ...], tuple[str, ...], str]:
    """Return what commands look at, the names of those that only a terminal runs, and the latest change that was run.

    latest: the one before these commands.
    """
    looks, others = list[SectionLook](), list[str]()
    for command in commands:
        try:
            words = shlex.split(command, comments=True)
        except ValueError:  # no command
            continue
        match words:
            case ["wblab", "run", file, *_] if Path(file).stem in questions:
                latest = Path(file).stem
            case ["wblab", "run" | "lesson", *_]:
                continue
            case _ if look := _look(words, latest):
                looks.append(look)
            case _:
                others.append(" ".join(takewhile(_IS_NAME.fullmatch, words[:_MOST_NAMES])))
    return tuple(looks), tuple(filter(None, dict.fromkeys(others))), latest


def _look(words: list[str], of: str) -> SectionLook | None:
    """Return what a command looks at, if it is one that looks."""
    match words:
        case ["wblab", "why", "--pauses", *_]:
            look = SectionLook("pauses", of)
        case ["wblab", "why", *options]:
            look = SectionLook("why", of, evidence="--evidence" in options, load=_after("--load", options))
        case ["wblab", "timeline", *options]:
            look = SectionLook("timeline", of, around=_after("--around", options))
        case ["wblab", "compare", *options]:
            load, metric, by = (_after(f"--{name}", options) for name in ("load", "metric", "by"))
            look = SectionLook("compare", load=load, metric=metric, by=by)
        case ["ls", "-d", _, "|", "xargs", "-n", "1", "wblab", "why", "--pauses", "|", "grep", word, *_]:
            look = SectionLook("seeds", load=word.removeprefix("^").partition(" ")[0])
        case ["grep", "-h", word, file, *_] | ["grep", word, file, *_] if Path(file).name == CONSOLE:
            look = SectionLook("printed", of, words=word)
        case _:
            return None
    return look


def _after(option: str, words: list[str]) -> str:
    """Return the value of an option among words; empty if it is not there."""
    return dict(pairwise(words)).get(option, "")
