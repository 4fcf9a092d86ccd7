"""Set a remedy on this machine until it is undone. Each change is noted before it is made.

Only one remedy is set at a time: an earlier one is undone first. A kill at any moment leaves a journal, which `undo`
finds. A reboot leaves nothing: the kernel forgets the settings, and the journal is on a tmpfs.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.live.mitigate.journal import Journal
from wblab.machine.alone import STATE, alone
from wblab.machine.block import scheduler, set_scheduler
from wblab.machine.changes import Change, Scheduler, Setting
from wblab.study.designs.advice.here import paths, shown_by
from wblab.study.designs.advice.plan import Candidate
from wblab.study.designs.advice.possible import is_possible
from wblab.study.designs.advice.record import Advice
from wblab.study.designs.advice.settings import Wanted
from wblab.study.designs.advice.site import found_again

_JOURNAL, _LOCK = "advise.json", "advise.lock"
_DAEMON = "mitigate.json"


@dataclass(frozen=True)
class Applied:
    """One file that was set: its value before (`old`, shown by `old_path`), the value asked for, its value now."""

    path: str
    old_path: str
    old: str
    asked: str
    found: str

    @property
    def is_as_asked(self) -> bool:
        """Whether the kernel took the value unchanged."""
        return self.found == self.asked

    def __str__(self) -> str:
        """Describe it in words."""
        was = self.old if self.old_path == self.path else f"{Path(self.old_path).name} {self.old}"
        took = "" if self.is_as_asked else f": the kernel took this instead of {self.asked}"
        return f"{self.path}: {self.found} (was {was}){took}"


def apply(candidate: Candidate, advice: Advice, state: Path = STATE) -> tuple[list[str], list[Applied]]:
    """Set a remedy. Return descriptions of what was undone first, and what was set. Raises InputError, WblabError.

    If a setting fails, the earlier ones are undone.
    """
    if candidate.has_group:
        raise InputError(
            f"--apply {candidate.name}: this remedy needs the heavy writer in a group of its own: install its slice"
        )
    advice = replace(advice, site=found_again(advice.site))
    with _journal(state) as journal:
        undone = _undo(journal)
        try:
            return undone, [_set(item, path, journal) for item in candidate.wanted for path in paths_of(item, advice)]
        except (OSError, WblabError) as error:
            failures = journal.undo(list(journal.changes))
            said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
            raise WblabError(
                "; ".join([f"cannot set {candidate.name}: {said}: nothing was changed", *failures])
            ) from None


def undo(state: Path = STATE) -> list[str]:
    """Undo what was set. Return descriptions of it. Raises WblabError if something cannot be undone."""
    with _journal(state) as journal:
        return _undo(journal)


def paths_of(item: Wanted, advice: Advice) -> list[Path]:
    """Return the files of a setting. Raises InputError for a file that the lab never sets."""
    found = list(paths(item.where, item.key, advice.site))
    for path in found:
        change: Change = Setting(path=str(path), new=item.value, back_path=str(path), back="0")
        if item.key == "scheduler":
            change = Scheduler(disk=str(path.parents[1]), old=item.value)
        if not is_possible(change, None):
            raise InputError(f"the study's file is damaged: the lab does not set {path} = {item.value!r}")
    return found


@contextmanager
def _journal(state: Path) -> Iterator[Journal]:
    _require_root()
    with alone(state, _LOCK, "another wblab advise", "its directory must belong to root alone"):
        if Journal(state / _DAEMON).changes:
            raise WblabError("wblab mitigate has changed this machine: stop it first, or wblab mitigate --restore")
        journal = Journal(state / _JOURNAL, is_possible, "wblab advise")
        if journal.ignored:
            raise WblabError(f"nothing was changed: {journal.ignored}: look at it, then remove it")
        yield journal


def _require_root() -> None:
    if os.geteuid() != 0:
        raise WblabError("changing this machine needs root: use sudo")


def _undo(journal: Journal) -> list[str]:
    """Undo all changes, last first. Raises WblabError if one fails; none is tried twice."""
    said = []
    for change in reversed(journal.changes):
        if isinstance(change, Setting):
            if _read(Path(change.path)) == change.new:
                said.append(f"{change.back_path}: back to {change.back}")
            else:
                said.append(f"{change.path} was left alone: it has been changed since")
        elif isinstance(change, Scheduler):
            said.append(f"{change.disk}/queue/scheduler: back to {change.old}")
    if failures := journal.undo(list(journal.changes)):
        raise WblabError("; ".join(failures))
    return said


def _set(item: Wanted, path: Path, journal: Journal) -> Applied:
    """Write one setting and read it back. Raises OSError."""
    shown = shown_by(path)
    if item.key == "scheduler":
        disk = path.parents[1]
        old = scheduler(disk)
        set_scheduler(disk, item.value, journal)
        return Applied(str(path), str(path), old, item.value, scheduler(disk))
    old = shown.read_text().strip()
    change = Setting(path=str(path), new=item.value, back_path=str(shown), back=old)
    journal.note(change)
    path.write_text(item.value)
    found = path.read_text().strip()
    if found != item.value:  # the kernel rounded it: undo what it made of it
        journal.note(Setting(path=str(path), new=found, back_path=str(shown), back=old))
        journal.forget(change)
    return Applied(str(path), str(shown), old, item.value, found)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
