"""A lesson that was handed in, question by question: for the hidden tests of otter-grader and nbgrader.

    import lesson_check
    lesson_check.confirm("longest", lesson="02-lock-up", course="os-2027")

A folder is a stranger's. Only its student's name and its answers are taken, as text; the lab writes the rest anew and
makes the runs again, so that a run, a spec or a set of lessons that was handed in counts for nothing. The grader's
Python needs no package of the lab: `wblab` is run as a command, found in $WBLAB or in the PATH.
"""

import json
import os
import stat
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = "my-lessons"
_PROGRESS = "progress.json"
_GIVEN = "spec.toml"  # the lesson's own, whatever was handed in
_MOST_BYTES = 1 << 16
_LONGEST_S = 600


def confirm(question: str, *, lesson: str, course: str = "", folder: str = FOLDER) -> None:
    """Return if a question is answered right. Raises AssertionError with what the lab says of the answer."""
    found = _checked(Path(folder).absolute(), lesson, course)
    if isinstance(found, AssertionError):
        raise found
    if question not in found:  # the check stops at predictions that were not made
        raise AssertionError("; ".join(f"{name}: {says}" for name, (_, says) in found.items()))
    outcome, says = found[question]
    if outcome == "read":
        raise AssertionError(f"{question}: a person gives this point: {says}")
    if outcome != "right":
        raise AssertionError(f"{question}: {says}")


@cache  # the questions of a notebook share one check, and one failure
def _checked(folder: Path, lesson: str, course: str) -> dict[str, tuple[str, str]] | AssertionError:
    """Return the outcome of each question and what the lab says of it, or why there is none."""
    try:
        with TemporaryDirectory() as place:
            return _check(folder, lesson, course, Path(place, FOLDER))
    except AssertionError as error:
        return error


def _check(folder: Path, lesson: str, course: str, fresh: Path) -> dict[str, tuple[str, str]]:
    _wblab("start", lesson, f"--student={_student(folder)}", f"--course={course}", f"--dir={fresh}")
    for path in (fresh / lesson).glob("*.toml"):
        if path.name != _GIVEN:
            path.write_text(_text(folder / lesson / path.name))
    said = json.loads(_wblab("check", lesson, "--json", f"--dir={fresh}"))
    return {one["question"]: (one["outcome"], one["says"]) for one in said["answers"]}


def _student(folder: Path) -> str:
    try:
        return str(json.loads(_text(folder / _PROGRESS))["student"])
    except (ValueError, KeyError, TypeError) as error:
        raise AssertionError(f"{folder / _PROGRESS} names no student") from error


def _text(path: Path) -> str:
    """Return the text of a regular file of limited size; no link is followed. Raises AssertionError."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_BYTES:
                raise AssertionError(f"{path} is no file of at most {_MOST_BYTES >> 10} KiB")
            return file.read(_MOST_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise AssertionError(f"cannot read {path}: {error}") from error


def _wblab(*arguments: str) -> str:
    """Return what `wblab lesson` prints. Raises AssertionError with its message if it fails."""
    command = [os.environ.get("WBLAB", "wblab"), "lesson", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AssertionError(f"cannot grade: {error}") from error
    if done.returncode:
        raise AssertionError(done.stderr.strip() or f"{' '.join(command)} failed")
    return done.stdout
