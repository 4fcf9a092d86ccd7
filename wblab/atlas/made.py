"""A square that is made: runs, verdicts and a page in a directory, which is small enough to be published."""

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.atlas.square import Plan, Square
from wblab.claims.report import write_report
from wblab.claims.result import Result
from wblab.claims.runs import examine
from wblab.core.errors import InputError, WblabError
from wblab.core.rundir import TRACE, TRACE_LOG
from wblab.lab.formats import CONFIG, MADE_OF, RUNS, VERDICTS, VERIFICATION
from wblab.lab.results import STAGED

# Of a run only what says what it was, and what its loads measured: all else is made again, byte for byte, by wblab
# rerun.
_DROPPED = (TRACE, TRACE_LOG, CONFIG)


@dataclass(frozen=True)
class Made:
    """What a square's directory says. claims: as verdicts.json has them."""

    square: Square
    release: str
    claims: Sequence[Mapping[str, str]]


def make(plan: Plan, atlas: Path, at_once: int) -> Made:
    """Make a square's directory in that of the atlas, in place of an older one. Raises WblabError.

    It gets its name when it is complete: an atlas can be interrupted at any moment.
    """
    square, started = plan.square, time.monotonic()
    staged = atlas / f"{STAGED}{square.name}"
    shutil.rmtree(staged, ignore_errors=True)
    try:
        staged.mkdir(parents=True)
        found = examine(plan.claims, plan.wanted, staged / RUNS, at_once, impossible=plan.impossible)
        wall_s = time.monotonic() - started
        kernel = plan.kernel.describe()
        write_report(Result(kernel, plan.seeds, wall_s, found.verdicts, found.samples, square.work), staged)
        for run in (staged / RUNS).glob("*"):
            for name in _DROPPED:
                (run / name).unlink(missing_ok=True)
        (staged / MADE_OF).write_text(plan.made_of + "\n")
        shutil.rmtree(atlas / square.name, ignore_errors=True)
        staged.rename(atlas / square.name)
    except OSError as error:
        raise WblabError(f"cannot write {staged}: {error.strerror or error}") from None
    return read(square, atlas)


def is_current(plan: Plan, atlas: Path) -> bool:
    """Whether a square is there, made of what it would be made of now."""
    try:
        return (atlas / plan.square.name / MADE_OF).read_text().strip() == plan.made_of
    except (OSError, ValueError):
        return False


def read(square: Square, atlas: Path) -> Made:
    """Return a square that is there. Raises InputError for a damaged one."""
    path = atlas / square.name / VERDICTS
    found = VERIFICATION.read(path)
    try:
        claims = [{key: str(item[key]) for key in ("name", "says", "verdict", "why")} for item in found["claims"]]
        return Made(square, str(found["kernel"]["release"]), claims)
    except (KeyError, TypeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"{path} is damaged ({what}): remove {path.parent}") from None
