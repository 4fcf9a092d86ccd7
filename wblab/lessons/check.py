"""Check a lesson: keep the predictions, make the student's runs, and judge the answers."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import Run
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.core.tables import to_table
from wblab.kernels import built_kernels
from wblab.lab.progress import Report, bar
from wblab.lessons.figures import LessonFigures, figures, over
from wblab.lessons.folder import RUNS
from wblab.lessons.judge import JudgedAnswer, Outcome, judge
from wblab.lessons.lesson import SPEC, Lesson
from wblab.lessons.numbers import read
from wblab.lessons.runs import changed, made, original, spec
from wblab.lessons.student import Student
from wblab.lessons.whereabouts import LessonPlace
from wblab.study.inputs import inputs_of

_DOTTED = (re.compile(r"(sysctl)\.(.+)"), re.compile(r"(cgroup)\.([^.]+)\.(files)\.(.+)"))

Make = Callable[[Spec], Run]
Changed = Callable[[str], dict[str, Any]]  # the table that a student changed for a question. Raises InputError


@dataclass(frozen=True)
class Checked:
    """What a check found.

    run: the student's run, or nothing before the predictions are made; digest: of it. made_with: what decides that.
    """

    judged: list[JudgedAnswer]
    run: Path | None = None
    digest: str = ""
    made_with: Mapping[str, str] = field(default_factory=dict)

    @property
    def solved(self) -> bool:
        """Whether all is answered, and right where that can be said."""
        return self.run is not None and all(one.outcome in ("right", "kept", "read") for one in self.judged)


def to_predict(lesson: Lesson, answers: Mapping[str, Any]) -> list[JudgedAnswer]:
    """Return what must be predicted before the run, and is not yet."""
    found = []
    for name, question in lesson.question.items():
        if question.kind != "predict":
            continue
        try:
            read(answers.get(name, ""), question.unit)
        except InputError as error:
            blank = not str(answers.get(name, "")).strip()
            found.append(
                JudgedAnswer(name, "missing" if blank else "wrong", "predict it first" if blank else str(error))
            )
    return found


def check(lesson: Lesson, student: Student, answers: Mapping[str, Any], table: Changed, make: Make) -> Checked:
    """Make the student's runs and those of changed specs, and judge all answers. Raises WblabError if a run fails."""
    wanted = spec(lesson, student)
    run = make(wanted)
    after = {
        name: _changed(lesson, student, name, table, make)
        for name, question in lesson.question.items()
        if question.kind == "change"
    }
    judged = judge(student.questions(lesson), answers, measured(lesson, wanted, make), after)
    return Checked(judged, run.path, digest(run), made_with(run))


def made_with(run: Run) -> dict[str, str]:
    """Return what decides a run's digest, by name: its spec, and the other inputs, each as a digest or a short text."""
    table = json.dumps(to_table(run.spec), sort_keys=True, default=str)
    return {"numbers in the spec": sha256(table.encode()).hexdigest(), **inputs_of(run.record)}


def measured(lesson: Lesson, wanted: Spec, make: Make) -> LessonFigures:
    """Return the figures of a spec, over all its seeds. Raises WblabError if a run fails."""
    return over([figures(make(one)) for one in _with_seeds(lesson, wanted)])


def _with_seeds(lesson: Lesson, wanted: Spec) -> list[Spec]:
    return [replace(wanted, seed=wanted.seed + number) for number in range(lesson.seeds)]


def specs(lesson: Lesson, student: Student, table: Changed) -> Iterator[tuple[str, list[Spec]]]:
    """Yield the specs of all runs that a check makes, as far as they can be read: by their file, for each seed."""
    yield SPEC, _with_seeds(lesson, spec(lesson, student))
    for name, question in lesson.question.items():
        if question.kind == "change":
            try:
                if wanted := changed_spec(lesson, student, name, table):
                    yield f"{name}.toml", _with_seeds(lesson, wanted)
            except InputError:  # the check says why
                continue


def changed_spec(lesson: Lesson, student: Student, name: str, table: Changed) -> Spec | None:
    """Return the spec that a student changed for a question; None if nothing was changed. Raises InputError."""
    found = changed(lesson, student, table(name), lesson.question[name].allowed)
    return spec(lesson, student, patched(original(lesson, student), found)) if found else None


def _changed(lesson: Lesson, student: Student, name: str, table: Changed, make: Make) -> LessonFigures | str:
    """Return the figures of a changed run, or why there are none; empty if nothing was changed."""
    try:
        wanted = changed_spec(lesson, student, name, table)
        return measured(lesson, wanted, make) if wanted else ""
    except WblabError as error:
        return str(error)


def patched(table: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with keys changed, or left out for None. Names of sysctls and of control files have dots."""
    result = dict(table)
    for key, value in changes.items():
        *parents, last = parts(key)
        within = result
        for parent in parents:
            within[parent] = dict(within.get(parent, {}))
            within = within[parent]
        if value is None:
            within.pop(last, None)
        else:
            within[last] = value
    return result


def parts(key: str) -> list[str]:
    """Return the names of the tables in which a key of a spec is, and its own."""
    for dotted in _DOTTED:
        if found := dotted.fullmatch(key):
            return list(found.groups())
    return key.split(".")


# Check the lesson where a student is, and keep what came out: the predictions, the run, and that it is solved.

WORDS: Mapping[Outcome, str] = MappingProxyType(
    {"right": "right", "wrong": "not yet", "missing": "open", "kept": "kept", "read": "to be read"}
)


def checked(at: LessonPlace, make: Make) -> tuple[LessonPlace, Checked]:
    """Check the current lesson, keep what came out, and return both. Raises WblabError.

    The predictions are kept before the first run. Without them there is none.
    """
    answers, progress = at.folder.answers(at.lesson), at.state.of(at.lesson)
    if not progress.expected:
        if lacking := to_predict(at.lesson, answers):
            return at, Checked(lacking)
        expected = {name: str(answers[name]) for name, one in at.lesson.question.items() if one.kind == "predict"}
        at = at.keep(expected=expected)
    answers |= at.state.of(at.lesson).expected
    found = check(at.lesson, at.state.who, answers, partial(at.folder.table, at.lesson), make)
    solved = {"solved": time.strftime("%Y-%m-%d")} if found.solved and not progress.solved else {}
    return at.keep(digest=found.digest, made_with=dict(found.made_with), **solved), found


def maker(at: LessonPlace, progress: Callable[[str], AbstractContextManager[Report]] = bar) -> Make:
    """Return what makes the runs of a student's folder with the default kernel. progress: shows how far each is."""
    resolve = built_kernels()

    def make(spec: Spec) -> Run:
        with progress(f"lesson {at.lesson.name}") as report:
            return made(spec, at.folder.path / RUNS, resolve, report)

    return make
