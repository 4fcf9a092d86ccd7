"""A file of the kernel, set to a number and noted before; it gets back what it had without us."""

from dataclasses import replace
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import counterpart
from wblab.machine.changes import Setting

_MUCH = 1.25  # a number within this factor is left alone: writing some of these files stops the disk for a moment


def put(journal: Journal, path: Path, value: str) -> Setting:
    """Set a file, whatever we set it to before, and return the change that is in force. Raises OSError, WblabError.

    The kernel may choose another number; the returned change has the one that it shows.
    """
    before = _noted(journal, path)
    if ours := _in_force(journal, path):
        change = replace(ours, new=value)
    else:
        shown = shown_by(path)
        change = Setting(path=str(path), new=value, back_path=str(shown), back=shown.read_text().strip())
    if not journal.can_undo(change):
        raise WblabError(f"the lab does not set {path} to {value!r}: nothing was changed")
    # From one number of ours straight to the next: whichever is in force can be undone.
    if change not in before:
        journal.note(change)
    path.write_text(value)
    found = replace(change, new=path.read_text().strip())
    if found not in (change, *before):
        journal.note(found)
    for old in dict.fromkeys([*before, change]):
        if old != found:
            journal.forget(old)
    return found


def keep(journal: Journal, path: Path, number: int) -> None:
    """Set a file to a number, unless we already set it to about that. Raises OSError, WblabError."""
    now = path.read_text().strip()
    if now == str(number) or (_in_force(journal, path) and number / _MUCH < int(now) < number * _MUCH):
        return
    put(journal, path, str(number))


def give_back(journal: Journal, path: Path) -> None:
    """Undo what was done to a file, if anything."""
    journal.undo(_noted(journal, path))


def number_before(journal: Journal, path: Path) -> int:
    """Return what a file would have without us. Raises OSError."""
    ours = _in_force(journal, path)
    return int(ours.back if ours else path.read_text())


def shown_by(path: Path) -> Path:
    """Return the file that shows a setting's value: while vm.dirty_ratio is in force, vm.dirty_bytes is 0.

    Raises OSError.
    """
    other = counterpart(path)
    return other if other and path.read_text().strip() == "0" else path


def _noted(journal: Journal, path: Path) -> list[Setting]:
    return [change for change in journal.changes if isinstance(change, Setting) and change.path == str(path)]


def _in_force(journal: Journal, path: Path) -> Setting | None:
    """Return our change in force in a file; None if somebody else has set it since, or it is another device's."""
    now = path.read_text().strip()
    return next((change for change in _noted(journal, path) if change.new == now), None)
