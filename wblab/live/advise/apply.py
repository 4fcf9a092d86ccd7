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

from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable
from wblab.live.advise import NAME
from wblab.live.advise.advicefile import advice_in, check_remedy
from wblab.live.advise.machinesite import MachineSite, current_site
from wblab.live.advise.plan import Candidate
from wblab.live.advise.record import Advice
from wblab.live.advise.settings import WantedSetting, paths
from wblab.live.changes.journal import Journal, changing, journal_of
from wblab.live.changes.permitted import ADVISE, MITIGATE
from wblab.live.changes.setting import put
from wblab.machine.block import scheduler, set_scheduler
from wblab.machine.changes import Change, Scheduler, Setting
from wblab.machine.processes import STATE
from wblab.study.store import Store

_OF_A_DISK = re.compile(r"/(?:block|class/bdi)/(?P<name>[^/]+)/")


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


def apply_named(name: str, study: Path, state: Path = STATE) -> tuple[Advice, list[str], list[Applied]]:
    """Set the remedy of this name that a study tried. Return its advice, and what `apply` does.

    Raises InputError, WblabError. The study is not trusted: it sets no more than the lab's remedy of that name.
    """
    advice = advice_in(Store.open(study, NAME))
    candidate = advice.candidate(name)
    check_remedy(candidate)
    if advice.elsewhere:
        raise InputError(
            f"--apply {name}: this study is of another machine ({printable(advice.elsewhere)}): install its files there"
        )
    return advice, *apply(candidate, advice, state)


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
        files = [(item, path) for item in candidate.wanted for path in paths_of(item, advice)]
        undone = _undo(journal, [change for change in journal.changes if not _is_for_other(change, advice.site)])
        kept = tuple(journal.changes)
        try:
            return undone, [_set(item, path, journal) for item, path in files]
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
    found = paths(item.where, item.key, advice.site)
    for path in found:
        change: Change = Setting(path=str(path), new=item.value, back_path=str(path), back="0")
        if item.key == "scheduler":
            change = Scheduler(disk=str(path.parents[1]), old=item.value)
        if not ADVISE.can_make(change, None):
            raise InputError(f"the study's file is damaged: the lab does not set {path} = {item.value!r}")
    return found


@contextmanager
def _journal(state: Path) -> Iterator[Journal]:
    """Yield the journal of what is set. Raises WblabError, also if the daemon has changed this machine."""
    with changing(ADVISE, state) as journal:
        daemon = journal_of(MITIGATE, state)
        if daemon.changes:
            raise WblabError("settings of wblab mitigate are in force: stop it first, or run wblab mitigate --restore")
        if ignored := journal.ignored or daemon.ignored:
            raise WblabError(f"nothing was changed: {ignored}: inspect the file, then remove it")
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
    if item.key == "scheduler":
        disk = path.parents[1]
        old = scheduler(disk)
        set_scheduler(disk, item.value, journal)
        return Applied(str(path), str(path), old, item.value, scheduler(disk))
    change = put(journal, path, item.value)
    return Applied(change.path, change.back_path, change.back, item.value, change.new)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
