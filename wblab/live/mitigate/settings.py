"""Kernel files that are kept at a number for a while, and then get back their earlier content."""

from pathlib import Path

from wblab.live.mitigate.journal import Journal
from wblab.machine.changes import Setting

_MUCH = 1.25  # a number within this factor is left alone: writing some of these files stops the disk for a moment


def keep(journal: Journal, path: Path, number: int, instead: Path | None = None) -> None:
    """Set a file to a number, unless we already set it to about that. Raises OSError.

    `instead` is the file's counterpart, which is in force while `path` has 0.
    """
    now, ours = path.read_text().strip(), _ours(journal, path)
    if now == str(number) or (ours and number / _MUCH < int(now) < number * _MUCH):
        return
    if ours:
        back_path, back = ours.back_path, ours.back
    elif instead and now == "0":
        back_path, back = str(instead), instead.read_text().strip()
    else:
        back_path, back = str(path), now
    change = Setting(path=str(path), new=str(number), back_path=back_path, back=back)
    before = [c for c in journal.changes if isinstance(c, Setting) and c.path == str(path)]
    # From one number of ours straight to the next: whichever is in force can be undone.
    if change not in before:
        journal.note(change)
    path.write_text(str(number))
    for old in before:
        if old != change:
            journal.forget(old)


def give_back(journal: Journal, path: Path) -> None:
    """Undo what was done to a file, if anything."""
    journal.undo([change for change in journal.changes if isinstance(change, Setting) and change.path == str(path)])


def number_before(journal: Journal, path: Path) -> int:
    """Return what a file would have without us. Raises OSError."""
    ours = _ours(journal, path)
    return int(ours.back if ours else path.read_text())


def _ours(journal: Journal, path: Path) -> Setting | None:
    """Return our change in force in a file; None if somebody else has set it since, or it is another device's."""
    now = path.read_text().strip()
    settings = [change for change in journal.changes if isinstance(change, Setting) and change.path == str(path)]
    return next((change for change in settings if change.new == now), None)
