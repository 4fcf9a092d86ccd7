"""The directories of results: each is staged under a name of its own, and gets its final one when it is complete."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

STAGED = "_"


def dated(name: str) -> str:
    """Return the name of a directory that is made now."""
    return f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_{name}"


def stage(results: Path, name: str, mode: int = 0o777) -> Path:
    """Make and return a new staged run directory, `_<date>_<name>`; a suffix keeps it from any that exists."""
    stem = dated(name)
    results.mkdir(parents=True, exist_ok=True)
    for final in _names(stem):
        if not (results / final).exists():
            try:
                (staged := results / f"{STAGED}{final}").mkdir(mode)
            except FileExistsError:
                continue
            return staged
    raise FileExistsError(f"no free name for {stem} in {results}")


def commit(staged: Path) -> Path:
    """Give a run that succeeded its final name, and return it."""
    stem = staged.name.removeprefix(STAGED)
    for name in _names(stem):
        final = staged.with_name(name)
        try:  # renaming onto a directory that is not empty fails: nothing is overwritten
            os.rename(staged, final)
        except OSError:
            if not final.exists():
                raise
        else:
            return final
    raise FileExistsError(f"no free name for {stem}")


def _names(stem: str) -> Iterator[str]:
    """Yield the names that a run may take, in their order: the plain one, then -2, -3 and so on."""
    yield stem
    yield from (f"{stem}-{number}" for number in range(2, 1000))
