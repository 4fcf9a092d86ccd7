"""A run directory around the work of a run, whatever makes it: a record before, and how it ended."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, WblabError
from wblab.host.process.boot import Ended
from wblab.lab.formats import EXPERIMENT, now, write_json
from wblab.machine.directory import Staged, staged


class RunFailedError(WblabError):
    """A run that failed: its directory, with console and reason, is kept, where it is known."""

    def __init__(self, message: str, directory: Path | None = None) -> None:
        super().__init__(message)
        self.directory = directory


@dataclass(frozen=True)
class Finished:
    """A run that succeeded, and its record (experiment.json)."""

    directory: Path
    record: dict[str, Any]


def recorded(
    results: Path, name: str, record: dict[str, Any], make: Callable[[Path, dict[str, Any]], Ended]
) -> Finished:
    """Make a run, and keep what it leaves in a new directory below `results`. Raises RunFailedError.

    record: what is known before. make: makes the run in a staged directory, and adds to the record.
    """
    with ExitStack() as stack:
        try:
            directory = stack.enter_context(staged(results, name))
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"cannot make a run directory in {str(results)!r}: {reason}") from None
        return _made(directory, record, make)


def _made(directory: Staged, record: dict[str, Any], make: Callable[[Path, dict[str, Any]], Ended]) -> Finished:
    """Make a run in a staged directory. Raises RunFailedError."""
    staged = directory.at
    try:
        write_json(staged / EXPERIMENT, record)
        ended = make(staged, record)
        record |= _ending("succeeded", "") | {"wall_s": round(ended.wall_s, 3), "guest_s": ended.guest_s}
        record["memory"] = record.get("memory", {}) | ended.memory
    except (WblabError, OSError, KeyboardInterrupt) as error:
        reason = "interrupted" if isinstance(error, KeyboardInterrupt) else directory.in_words(str(error))
        try:
            write_json(staged / EXPERIMENT, record | _ending("failed", reason))
        except OSError as second:  # no room for the reason either
            reason = f"{reason}; and {staged / EXPERIMENT}: {second.strerror or second}"
        if isinstance(error, KeyboardInterrupt):
            raise
        raise RunFailedError(f"{reason} (see {directory.shown})", directory.shown) from error
    try:
        write_json(staged / EXPERIMENT, record)
    except KeyboardInterrupt:  # while it was written: what is there says that the run goes on
        write_json(staged / EXPERIMENT, record | _ending("failed", "interrupted"))
        raise
    except OSError as error:
        where = directory.shown / EXPERIMENT
        raise RunFailedError(f"cannot write {where}: {error.strerror or error}", directory.shown) from None
    return Finished(directory.commit(), record)


def _ending(outcome: str, reason: str) -> dict[str, Any]:
    return {"end": now(), "outcome": outcome, "reason": reason}
