"""Check the lesson where a student is, and keep what came out: the predictions, the run, and that it is solved."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from types import MappingProxyType

from wblab.analysis.runs.run import Run
from wblab.core.spec import Spec
from wblab.kernels import built_kernels
from wblab.lab.progress import Report, bar
from wblab.lessons.check import Checked, Make, check, to_predict
from wblab.lessons.folder import RUNS
from wblab.lessons.judge import Outcome
from wblab.lessons.place import Place
from wblab.lessons.runs import made

WORDS: Mapping[Outcome, str] = MappingProxyType(
    {"right": "right", "wrong": "not yet", "missing": "open", "kept": "kept", "read": "to be read"}
)


def checked(at: Place, make: Make) -> tuple[Place, Checked]:
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


def maker(at: Place, progress: Callable[[str], AbstractContextManager[Report]] = bar) -> Make:
    """Return what makes the runs of a student's folder with the default kernel. progress: shows how far each is."""
    resolve = built_kernels()

    def make(spec: Spec) -> Run:
        with progress(f"lesson {at.lesson.name}") as report:
            return made(spec, at.folder.path / RUNS, resolve, report)

    return make
