"""The runs of a lesson: each is made once, and found again by what it was made of."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from wblab.analysis.runs.run import Run
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.host.process.limits import Limits
from wblab.kernels import KernelResolver
from wblab.lab.progress import Report, silent
from wblab.lab.specfile import spec_of
from wblab.lessons.lesson import SPEC, Lesson
from wblab.lessons.student import Student
from wblab.study import once

# A student's changes may make a run long, or its trace large.
_LIMITS = Limits(silence_s=60, wall_s=300, output_bytes=256 << 20)


def original(lesson: Lesson, student: Student) -> dict[str, Any]:
    """Return the table of a student's spec, as the lesson gives it. Raises InputError."""
    return student.table(lesson, SPEC)


def spec(lesson: Lesson, student: Student, table: dict[str, Any] | None = None) -> Spec:
    """Return the spec of a student's run, or of a changed table of it. Raises InputError."""
    given = original(lesson, student) if table is None else table
    return replace(spec_of({"name": lesson.name} | given, exact=False), seed=student.seed_of(lesson))


def changed(lesson: Lesson, student: Student, given: dict[str, Any], allowed: tuple[str, ...]) -> dict[str, Any]:
    """Return which keys of the spec a student changed, with their values; None: left out.

    Raises InputError for a key that is not allowed.
    """
    before, after = (dict(_flat(table)) for table in (original(lesson, student), given))
    found = {key: after.get(key) for key in {**before, **after} if before.get(key) != after.get(key)}
    if refused := [key for key in found if key not in allowed]:
        what = f"{refused[0]} must stay as it was" if refused[0] in before else f"leave {refused[0]} out"
        raise InputError(f"{what}: change only {', '.join(allowed)}")
    if "kernel" in found and found["kernel"] not in lesson.needs:
        raise InputError(f"kernel must be {' or '.join(lesson.needs)}")
    return found


def made(wanted: Spec, results: Path, resolve: KernelResolver, report: Report = silent) -> Run:
    """Return the run of a student's spec: the one in `results`, or a new one. Raises InputError, RunFailedError."""
    return once.made(wanted, results, resolve, _LIMITS, report)


def found(wanted: Spec, results: Path, resolve: KernelResolver) -> Run | None:
    """Return the run of a student's spec that is in `results`. Raises InputError."""
    return once.found(wanted, results, resolve)


def _flat(table: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    """Return the entries of nested tables, by keys with dots. A table without entries says nothing."""
    found = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{path}{key}.")
        else:
            found.append((f"{path}{key}", value))
    return found
