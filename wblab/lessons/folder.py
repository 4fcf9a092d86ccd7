"""A student's folder: one directory for each lesson that was begun, and progress.json."""

import json
import os
import re
import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError
from wblab.core.files import parse_toml, replace_file
from wblab.core.tables import from_table, to_table
from wblab.lab import formats
from wblab.lab.held import held, open_below, read_below, through
from wblab.lessons.lesson import EXTRA, SPEC, TEXT, Lesson
from wblab.lessons.student import Student
from wblab.machine.directory import made_whole
from wblab.machine.trust import distrust_found

PROGRESS, ANSWER, READ = "progress.json", "answer.toml", "lesson.md"
RUNS = "exp"
_HEAD = formats.PROGRESS.head().keys()
_MOST_BYTES = 1 << 16
_MOST_LETTERS = 100  # of a name
_AT_LINE = re.compile(r"at line ([0-9]+)")
_QUOTES = "\"'\u201c\u201d\u2018\u2019"
_BARE = re.compile(r"([\w.-]+) *= *([^\[{#]*?) *(?:#.*)?")
_WIDTH = 77  # of a comment, in a terminal of 80 columns


@dataclass(frozen=True)
class Progress:
    """How far a lesson is.

    expected: the predictions, as they were before the first run. digest: of the run. made_with: what decides that, by
    name. hints: how many were shown, by question. solved: the day.
    """

    expected: dict[str, str] = field(default_factory=dict)
    digest: str = ""
    made_with: dict[str, str] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    solved: str = ""


@dataclass(frozen=True)
class LessonState:
    """Who learns, and how far.

    set: the directory of the lessons, if not the lab's. current: the lesson that bare `wblab lesson` goes on with.
    """

    student: str
    course: str = ""
    set: str = ""
    current: str = ""
    lesson: dict[str, Progress] = field(default_factory=dict)

    @property
    def who(self) -> Student:
        """The student."""
        return Student(self.student, self.course)

    def of(self, lesson: Lesson) -> Progress:
        """Return how far a lesson is."""
        return self.lesson.get(lesson.name, Progress())

    def with_progress(self, lesson: Lesson, **changes: Any) -> "LessonState":
        """Return the state after a change of one lesson."""
        return replace(self, lesson=self.lesson | {lesson.name: replace(self.of(lesson), **changes)})


@dataclass(frozen=True)
class Folder:
    """A student's folder. found: by looking around, not named: then it is used only if it is our own.

    It is held by descriptor, so that nobody leads us elsewhere, and a link in it is never followed.
    """

    path: Path
    found: bool = False

    def begun(self) -> bool:
        """Whether someone learns here."""
        return os.path.lexists(self.path / PROGRESS)

    def state(self) -> LessonState:
        """Return the state. Raises InputError."""
        try:
            os.lstat(self.path / PROGRESS)
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(f"no lesson was started in {self.path}: wblab lesson start 1") from None
        except OSError as error:
            raise InputError(f"cannot read {self.path / PROGRESS}: {error.strerror}") from None
        with self._held() as directory:
            content = formats.PROGRESS.read(through(directory) / PROGRESS)
        try:
            state = from_table(
                LessonState, {key: value for key, value in content.items() if key not in _HEAD}, exact=True
            )
            check_names(state.student, state.course)
            return state
        except InputError as error:
            raise InputError(f"{self.path / PROGRESS}: {error}") from None

    def keep(self, state: LessonState) -> None:
        """Write the state. Raises InputError."""
        text = json.dumps(formats.PROGRESS.head() | to_table(state), indent=2) + "\n"
        with self._held(make=True) as directory:
            _write(through(directory) / PROGRESS, text)

    def of(self, lesson: Lesson) -> Path:
        """Return the directory of a lesson."""
        return self.path / lesson.name

    def start(self, lesson: Lesson, student: Student) -> None:
        """Write a lesson's files as they are at the start, unless it was started before: all or none.

        Raises InputError.
        """
        if os.path.lexists(self.of(lesson)):
            return
        texts = {READ: student.text(lesson, TEXT), SPEC: student.text(lesson, SPEC), ANSWER: blank(lesson, student)}
        texts |= {f"{name}.toml": texts[SPEC] for name, one in lesson.question.items() if one.kind == "change"}
        texts |= {name: lesson.read(f"{EXTRA}/{name}") for name in lesson.extra()}
        with self._held(make=True) as directory:
            _write_all(directory, lesson.name, texts)

    def reset(self, lesson: Lesson, student: Student) -> Path:
        """Start a lesson anew, and return where its files went. Raises InputError."""
        kept = next(path for number in count(1) if not os.path.lexists(path := self.path / f"{lesson.name}.{number}"))
        with self._held() as directory:
            os.rename(lesson.name, kept.name, src_dir_fd=directory, dst_dir_fd=directory)
        self.start(lesson, student)
        return kept

    def answers(self, lesson: Lesson) -> dict[str, Any]:
        """Return the answers so far. Raises InputError for a file that is no TOML, or has an unknown name."""
        path = self.of(lesson) / ANSWER
        if not os.path.lexists(path) and os.access(self.of(lesson), os.X_OK, effective_ids=True):
            raise InputError(f"{path} is missing: wblab lesson start --anew {lesson.name} writes it anew")
        given = self._toml(lesson, ANSWER)
        if unknown := given.keys() - lesson.question.keys():
            raise InputError(f"{path}: no question {min(unknown)!r} in this lesson")
        return given

    def table(self, lesson: Lesson, question: str) -> dict[str, Any]:
        """Return the spec that a student changed for a question. Raises InputError."""
        return self._toml(lesson, f"{question}.toml")

    def put(self, lesson: Lesson, name: str, text: str) -> None:
        """Write or replace one more file of a lesson. Raises InputError."""
        with self._held() as directory:
            within = open_below(directory, Path(lesson.name))
            try:
                _write(through(within) / name, text)
            finally:
                os.close(within)

    def add(self, lesson: Lesson, name: str, text: str) -> bool:
        """Write one more file of a lesson, unless there is one of its name; return whether. Raises InputError."""
        if is_new := not os.path.lexists(self.of(lesson) / name):
            self.put(lesson, name, text)
        return is_new

    def edit(self, lesson: Lesson, name: str, change: Callable[[str], str]) -> None:
        """Replace the text of one of a lesson's files by what `change` makes of it. Raises InputError.

        A text that could not be read again is not written.
        """
        path = self.of(lesson) / name
        try:
            text = self._read(lesson, name).decode()
        except ValueError:
            raise InputError(f"{path} is not UTF-8 text") from None
        try:
            changed = change(text)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        if len(changed.encode()) > _MOST_BYTES:
            raise InputError(f"not saved: {path.name} would be longer than {_MOST_BYTES >> 10} KiB")
        if changed != text:
            self.put(lesson, name, changed)

    def _read(self, lesson: Lesson, name: str) -> bytes:
        """Return one of a lesson's files. Raises InputError."""
        try:
            with held(self.path) as directory:
                self._check(directory)
                return read_below(directory, Path(lesson.name, name), _MOST_BYTES)
        except OSError as error:
            raise InputError(f"cannot read {self.of(lesson) / name}: {error.strerror}") from None

    def _toml(self, lesson: Lesson, name: str) -> dict[str, Any]:
        """Return the table in one of a lesson's files. Raises InputError."""
        path = self.of(lesson) / name
        content = self._read(lesson, name)
        try:
            return parse_toml(content)
        except UnicodeDecodeError:
            raise InputError(f"{path} is not UTF-8 text") from None
        except ValueError as error:
            raise InputError(f"{path} is not TOML: {_mistake(content.decode(), str(error))}") from None

    @contextmanager
    def _held(self, *, make: bool = False) -> Iterator[int]:
        """Hold the folder. Raises InputError, also for one that was found and is another user's."""
        try:
            with held(self.path, make=make) as directory:
                self._check(directory)
                yield directory
        except OSError as error:
            raise InputError(f"cannot use the folder {self.path}: {error.strerror}") from None

    def _check(self, directory: int) -> None:
        """Raise InputError if the folder was found by looking around, and is another user's."""
        if not self.found:
            return
        reason = distrust_found(directory)
        if not reason and os.path.lexists(through(directory) / PROGRESS):
            reason = distrust_found(directory, PROGRESS)
        if reason:
            raise InputError(
                f"{reason}: the lab goes on with no lessons that it found and that are not yours: go to a directory of "
                f"your own, or, if you trust who can write to these, name them: --dir {shlex.quote(str(self.path))}"
            )


def _write_all(directory: int, name: str, texts: Mapping[str, str]) -> None:
    """Write a directory of files into a held one: all of them or none. Raises OSError."""
    with made_whole(directory, name) as within:
        for file, text in texts.items():
            with held(through(within) / Path(file).parent, make=True) as at:
                _write(through(at) / Path(file).name, text)


def _write(path: Path, text: str) -> None:
    with replace_file(path) as file:
        file.write(text.encode())


def _mistake(text: str, error: str) -> str:
    """Return what is wrong with a text, by its line; a value without quotes is the usual mistake."""
    place, lines = _AT_LINE.search(error), text.splitlines()
    line = lines[int(place[1]) - 1].strip()[:_WIDTH] if place and int(place[1]) <= len(lines) else ""
    if place and (bare := _BARE.fullmatch(line)):
        return f'line {place[1]}: write the value between quotes: {bare[1]} = "{bare[2].strip(_QUOTES)}"'
    return f"{error}: {line}" if line else error


def check_names(student: str, course: str) -> None:
    """Raise InputError for names that are too long for a line."""
    for what, name in (("student", student), ("course", course)):
        if len(name) > _MOST_LETTERS:
            raise InputError(f"{what}: the name has {len(name)} letters, more than {_MOST_LETTERS}: shorten it")


def blank(lesson: Lesson, student: Student) -> str:
    """Return the file of answers, empty, with the questions as comments."""
    return "\n".join(_blank(lesson, student))


def _blank(lesson: Lesson, student: Student) -> Iterator[str]:
    yield f"# {lesson.title}"
    yield "# Write your answers between the quotes, save, then: wblab lesson check"
    for name, question in student.questions(lesson).items():
        yield ""
        first = "Before the run: " if question.kind == "predict" else ""
        unit = f" (in {question.unit})" if question.unit else ""
        yield from (f"# {line}" for line in textwrap.wrap(f"{first}{question.ask}{unit}", _WIDTH))
        for option, words in question.options.items():
            yield from (f"# {line}" for line in textwrap.wrap(f"  {option}: {words}", _WIDTH, subsequent_indent="    "))
        if question.kind == "change":
            only = f"Change {name}.toml, only: {', '.join(question.allowed)}"
            yield from (f"# {line}" for line in textwrap.wrap(only, _WIDTH, break_on_hyphens=False))
        else:
            yield f'{name} = ""'
    yield ""
