"""Set a remedy on this machine until it is undone. Each change is noted in a journal before it is made.

One remedy is set for each disk: what was set for the same disk, or for the whole machine, is undone first. After a kill
at any moment, `undo` restores all from the journal. After a reboot nothing is left to undo: the kernel forgets the
settings, and the journal is on a tmpfs.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Scheduler as Known
from wblab.live.advise.here import paths, shown_by
from wblab.live.advise.machinesite import MachineSite, current_site
from wblab.live.advise.plan import Candidate
from wblab.live.advise.record import Advice
from wblab.live.advise.settings import WantedSetting
from wblab.live.mitigate.journal import Journal
from wblab.live.mitigate.journal import is_possible as daemon_can
from wblab.machine.block import scheduler, set_scheduler
from wblab.machine.changes import Change, Scheduler, Setting
from wblab.machine.processes import STATE, alone, require_root

# The changes that `--apply` can have made. Only these are undone from its journal.

# In addition to the daemon's changes: the file that is set, a space, and the file that restores it.
_SETTING = re.compile(
    r"(/sys/block/[A-Za-z0-9][^/\0\n ]*/queue/wbt_lat_usec) \1"
    r"|(/proc/sys/vm/dirty_(?:expire|writeback)_centisecs) \2"
)
_DISK = re.compile(r"/sys/block/[A-Za-z0-9][^/\0\n ]*")
_NUMBER = re.compile(r"[0-9]{1,19}")


def is_possible(change: Change, root: Path | None) -> bool:
    """Whether `wblab advise` can have made a change. `root` is where cgroup v2 is mounted, or None."""
    match change:
        case Setting():
            numeric = all(_NUMBER.fullmatch(text) for text in (change.new, change.back))
            own = numeric and bool(_SETTING.fullmatch(f"{change.path} {change.back_path}"))
            return own or daemon_can(change, root)
        case Scheduler():
            numbers = (change.nr_requests, change.wbt_lat_usec)
            known = change.old in get_args(Known) and bool(_DISK.fullmatch(change.disk))
            return known and all(not text or bool(_NUMBER.fullmatch(text)) for text in numbers)
        case _:
            return False


_OF_A_DISK = re.compile(r"/(?:block|class/bdi)/(?P<name>[^/]+)/")
_JOURNAL, _LOCK = "advise.json", "advise.lock"
_DAEMON = "mitigate.json"


@dataclass(frozen=True)
class Applied:
    """One file that was set. old: the value before, from `old_path`. asked: the wanted value. found: the new one."""

    path: str
    old_path: str
    old: str
    asked: str
    found: str

    @property
    def is_as_asked(self) -> bool:
        """Whether the kernel accepted the value unchanged."""
        return self.found == self.asked

    def __str__(self) -> str:
        """Describe it in one line."""
        was = self.old if self.old_path == self.path else f"{Path(self.old_path).name} {self.old}"
        instead = "" if self.is_as_asked else f": the kernel chose this instead of {self.asked}"
        return f"{self.path}: {self.found} (was {was}){instead}"


def apply(candidate: Candidate, advice: Advice, state: Path = STATE) -> tuple[list[str], list[Applied]]:
    """Set a remedy. Return what was undone first, in words, and what was set. Raises InputError, WblabError.

    If one setting fails, those made before it are undone.
    """
    if candidate.has_group:
        raise InputError(
            f"--apply {candidate.name}: this remedy needs the heavy writer in its own control group: install its slice"
        )
    advice = replace(advice, site=current_site(advice.site))
    with _journal(state) as journal:
        undone = _undo(journal, [change for change in journal.changes if not _is_for_other(change, advice.site)])
        kept = tuple(journal.changes)
        try:
            return undone, [_set(item, path, journal) for item in candidate.wanted for path in paths_of(item, advice)]
        except (OSError, WblabError) as error:
            failures = journal.undo([change for change in journal.changes if change not in kept])
            reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
            raise WblabError(
                "; ".join([f"cannot set {candidate.name}: {reason}: nothing was changed", *failures])
            ) from None


def undo(state: Path = STATE) -> list[str]:
    """Undo what was set and describe it in words. Raises WblabError if something cannot be undone."""
    with _journal(state) as journal:
        return _undo(journal, journal.changes)


def paths_of(item: WantedSetting, advice: Advice) -> list[Path]:
    """Return the files that a setting writes. Raises InputError for a file that the lab never sets."""
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
    require_root("changing this machine needs root: use sudo")
    with alone(state, _LOCK, "another wblab advise", "only root may own it and write to it"):
        if Journal(state / _DAEMON).changes:
            raise WblabError("settings of wblab mitigate are in force: stop it first, or run wblab mitigate --restore")
        journal = Journal(state / _JOURNAL, is_possible, "wblab advise")
        if journal.ignored:
            raise WblabError(f"nothing was changed: {journal.ignored}: inspect the file, then remove it")
        yield journal


def _is_for_other(change: Change, site: MachineSite) -> bool:
    """Whether a change was made for another disk than a site's; one of the whole machine was not."""
    path = change.disk if isinstance(change, Scheduler) else change.path if isinstance(change, Setting) else ""
    found = _OF_A_DISK.search(f"{path}/")
    return found is not None and found["name"] not in (*site.disks, site.bdi)


def _undo(journal: Journal, changes: Sequence[Change]) -> list[str]:
    """Undo changes, last first, each once. Raises WblabError if one fails."""
    lines = []
    for change in reversed(changes):
        if isinstance(change, Setting):
            if _read(Path(change.path)) == change.new:
                lines.append(f"{change.back_path}: restored to {change.back}")
            else:
                lines.append(f"{change.path}: not restored, because it has been changed since")
        elif isinstance(change, Scheduler):
            lines.append(f"{change.disk}/queue/scheduler: restored to {change.old}")
    if failures := journal.undo(list(changes)):
        raise WblabError("; ".join(failures))
    return lines


def _set(item: WantedSetting, path: Path, journal: Journal) -> Applied:
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
    if found != item.value:  # the kernel rounded it: undo compares with the rounded value
        journal.note(Setting(path=str(path), new=found, back_path=str(shown), back=old))
        journal.forget(change)
    return Applied(str(path), str(shown), old, item.value, found)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
