"""A lesson: a folder with lesson.toml, its prose, a spec, a reference answer and wrong ones."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from wblab.core.errors import InputError, nearest
from wblab.core.files import parse_toml, read_bytes
from wblab.core.tables import from_table
from wblab.lab.held import held, read_below
from wblab.lab.places import LESSONS
from wblab.lessons.numbers import UNITS, read, unit_of

Kind = Literal["predict", "number", "choice", "sentence", "change"]

LESSON, SPEC, TEXT, EXPLANATION, LECTURER = "lesson.toml", "spec.toml", "text.md", "explanation.md", "lecturer.md"
REFERENCE, WRONG, EXTRA = "reference.toml", "wrong", "files"
FILES = (LESSON, SPEC, TEXT, EXPLANATION, LECTURER, REFERENCE)
TEMPLATE = LESSONS / "template"
_NAME = re.compile(r"[0-9]{2}-[a-z0-9-]+")
_RANGE = re.compile(r"([0-9]{1,5}) to ([0-9]{1,5}) by ([1-9][0-9]{0,4})")
MOST_SEEDS = 10
_MOST_BYTES = 1 << 20
_MOST_EXTRA = 100


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A number that students give by mistake: a figure of the run, and the words that help."""

    figure: str
    says: str


@dataclass(frozen=True, kw_only=True)
class Held:
    """A figure that must lie in a range: from `least` to `most`, or to `percent` of `near`, each with a unit.

    says: what the figure is, in words.
    """

    figure: str
    least: str = ""
    most: str = ""
    near: str = ""
    percent: int = 5
    says: str = ""

    @property
    def unit(self) -> str:
        """The unit of its ends."""
        return unit_of(self.least or self.most or self.near)

    def holds(self, run: Mapping[str, float]) -> bool:
        """Whether the figure of a run lies in the range. Raises InputError."""
        least, most = self.ends()
        return least <= run[self.figure] <= most

    def ends(self) -> tuple[float, float]:
        """Return the least and the most that the figure may be. Raises InputError."""
        if self.near:
            middle = read(self.near, self.unit).value
            return middle * (1 - self.percent / 100), middle * (1 + self.percent / 100)
        least = read(self.least, self.unit).value if self.least else -math.inf
        return least, read(self.most, self.unit).value if self.most else math.inf


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question.

    predict: a number that is kept before the run, and not graded. number: the value of `figure`, to `percent` of it.
    choice: one of `options`; right: the name of it, or the option of `by` with the largest figure. sentence: it cites
    `enough` of the figures in `cites`. `names`: things that it should name, as the check says of one that is left out,
    each with words that stand for it. A person reads whether it is true.
    change: the student changes keys of `allowed` in the spec, and then all of `holds` must hold.
    of: the change whose run the question is about; by default it is about the student's own run.
    unit: of numbers; see wblab/lessons/figures.py.
    """

    kind: Kind
    ask: str
    figure: str = ""
    of: str = ""
    unit: str = ""
    percent: int = 5
    options: dict[str, str] = field(default_factory=dict)
    right: str = ""
    by: dict[str, str] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()
    cites: tuple[str, ...] = ()
    enough: int = 1
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    allowed: tuple[str, ...] = ()
    holds: tuple[Held, ...] = ()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson. vary: what differs between students, each a list to choose from. point: what is so in each one's run.

    In `vary`, "900 to 1100 by 4" stands for these numbers. teaches: sentences that a student can say afterwards. needs:
    names of kernels, beside the default one. seeds: the number of runs of each spec, with as many seeds; for their
    figures see `over` in wblab/lessons/figures.py.
    """

    folder: Path
    name: str
    title: str
    minutes: int
    teaches: tuple[str, ...]
    question: dict[str, Question]
    vary: dict[str, tuple[str, ...]] = field(default_factory=dict)
    point: tuple[Held, ...] = ()
    needs: tuple[str, ...] = ()
    seeds: int = 1

    def file(self, name: str) -> Path:
        """Return the path of one of its files."""
        return self.folder / name

    def extra(self) -> list[str]:
        """Return the names of further files that a student gets as they are, below EXTRA."""
        within = self.file(EXTRA)
        found: list[str] = []
        for directory, folders, names in os.walk(within):
            links = [name for name in folders if os.path.islink(os.path.join(directory, name))]
            found += [os.path.relpath(os.path.join(directory, name), within) for name in (*names, *links)]
            if len(found) > _MOST_EXTRA:
                raise InputError(f"{within} has more than {_MOST_EXTRA} files: leave some out")
        return sorted(found)

    def read(self, name: str) -> str:
        """Return the text of one of its files. Raises InputError."""
        try:
            return _read(self.folder, name).decode()
        except ValueError:
            raise InputError(f"{self.file(name)} is not UTF-8 text") from None


def is_name(text: str) -> bool:
    """Whether a lesson's folder may have this name."""
    return bool(_NAME.fullmatch(text))


def lessons(folder: Path = LESSONS) -> list[Lesson]:
    """Return the lessons of a set, in order. Raises InputError."""
    try:
        names = sorted(path.name for path in folder.iterdir() if is_name(path.name))
    except OSError as error:
        raise InputError(f"cannot read the set of lessons {folder}: {error.strerror}") from None
    if not names:
        raise InputError(f"{folder} has no lessons: their folders have names such as 01-page-cache")
    return [read_lesson(folder / name) for name in names]


def find(text: str, among: Sequence[Lesson]) -> Lesson:
    """Return the lesson of a name or a number. Raises InputError, with the nearest."""
    for lesson in among:
        if text in (lesson.name, lesson.name[:2], lesson.name[:2].lstrip("0")):
            return lesson
    names = [lesson.name for lesson in among]
    raise InputError(f"no lesson {text!r}{nearest(text, names)}: wblab lesson start --list names them")


def read_lesson(folder: Path) -> Lesson:
    """Read a lesson's folder. Raises InputError for what is missing or does not fit."""
    try:
        table = parse_toml(_read(folder, LESSON))
    except ValueError as error:
        raise InputError(f"{folder / LESSON} is not a TOML file: {error}") from None
    if given := {"folder", "name"} & table.keys():
        raise InputError(f"{folder / LESSON}: {given.pop()} is the folder's: leave it out")
    try:
        lesson = from_table(Lesson, table | {"folder": folder, "name": folder.name})
        lesson = replace(lesson, vary={name: _choices(of) for name, of in lesson.vary.items()})
        for name, question in lesson.question.items():
            _check(f"question.{name}", question)
            if question.of and (question.of not in lesson.question or lesson.question[question.of].kind != "change"):
                raise InputError(f"question.{name}.of: {question.of!r} is no question of the kind change")
        for held in lesson.point:
            held.ends()
        if not 1 <= lesson.seeds <= MOST_SEEDS:
            raise InputError(f"seeds: give between 1 and {MOST_SEEDS}")
    except InputError as error:
        raise InputError(f"{folder / LESSON}: {error}") from None
    for name in FILES:
        if not os.path.lexists(lesson.file(name)):
            raise InputError(f"{folder} has no {name}: wblab lesson new writes all that a lesson needs")
    return lesson


def _read(folder: Path, name: str) -> bytes:
    """Return one of a lesson's files: no link in a set is followed but in the lab's own. Raises InputError."""
    try:
        if folder.parent == LESSONS:
            return read_bytes(folder / name, _MOST_BYTES, follow=True)
        with held(folder.parent) as directory:
            return read_below(directory, Path(folder.name, name), _MOST_BYTES)
    except OSError as error:
        raise InputError(f"cannot read {folder / name}: {error.strerror}") from None


def _choices(of: Sequence[str]) -> tuple[str, ...]:
    """Return what a student's value is chosen from, with the numbers of each range."""
    found: list[str] = []
    for entry in of:
        if match := _RANGE.fullmatch(entry):
            first, last, step = map(int, match.groups())
            found += map(str, range(first, last + 1, step))
        else:
            found.append(entry)
    return tuple(found)


def _check(where: str, question: Question) -> None:
    """Raise InputError for a question that cannot be judged."""
    if not re.fullmatch(r"question\.[a-z][a-z0-9_]*", where):
        raise InputError(f"{where}: a question's name has small letters, digits and _")
    if question.unit not in UNITS:
        raise InputError(f"{where}: no unit {question.unit!r}: one of {', '.join(filter(None, UNITS))}")
    needed = {
        "predict": question.figure,
        "number": question.figure,
        "choice": question.options and _has_right_option(question),
        "sentence": question.cites and question.names,
        "change": question.allowed and question.holds,
    }
    if not needed[question.kind]:
        raise InputError(f"{where}: a question of the kind {question.kind} lacks what it is judged by")


def _has_right_option(question: Question) -> bool:
    return question.right in question.options or (bool(question.by) and question.by.keys() <= question.options.keys())
