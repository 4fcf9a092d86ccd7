"""Changes made and not yet undone, in a file that survives a killed process; each verb has its own, and a lock."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.core.files import read_json
from wblab.lab.held import replace_file
from wblab.live.changes.permitted import ChangingVerb
from wblab.machine.cgroup import cgroup_root
from wblab.machine.changes import Change, from_row, to_row, undo_all
from wblab.machine.processes import alone, require_root

_MOST_BYTES = 64 << 20
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Journal:
    """The changes, oldest first. Each is written to the file before it is made, and removed after it was undone.

    The file is replaced as a whole, so a kill at any moment leaves the old or the new one. It is not synced: it lives
    on a tmpfs, and a reboot reverts all changes anyway. After a reboot it is void.
    """

    def __init__(self, path: Path, verb: ChangingVerb, root: Callable[[], Path | None] | None = None) -> None:
        """Read what an earlier process of this verb left. `ignored` describes entries that the verb cannot have made.

        root: returns the mount point of cgroup v2. Raises WblabError.
        """
        self._path, self._verb = path, verb
        self._root = root or cgroup_root
        self._boot = _BOOT.read_text().strip()
        self.ignored = ""
        self.changes: list[Change] = self._read()

    def can_undo(self, change: Change) -> bool:
        """Whether the next process of this verb would undo a change that it finds here."""
        return self._verb.can_make(change, self._root())

    def note(self, *changes: Change) -> None:
        """Note changes about to be made. Raises WblabError if that fails: then do not make them."""
        if changes:
            self._write([*self.changes, *changes])

    def undo(self, changes: Sequence[Change]) -> list[str]:
        """Undo these changes, last first. Return descriptions of failures, which are not tried again."""
        failures = undo_all(changes)
        undone = set(changes)
        self._write([change for change in self.changes if change not in undone])
        return failures

    def forget(self, change: Change) -> None:
        """Drop a change that another one has replaced."""
        self._write([other for other in self.changes if other != change])

    def _read(self) -> list[Change]:
        try:
            table = read_json(self._path, _MOST_BYTES)
            boot, rows = table["boot"], list(table["changes"])
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._set_aside(error.strerror or "" if isinstance(error, OSError) else f"not a journal ({error})")
            return []
        if boot != self._boot:
            return []
        root = self._root()
        changes = [change for row in rows if (change := self._change(row, root))]
        if strange := len(rows) - len(changes):
            self.ignored = f"{strange} entries of the journal {self._path} that {self._verb.writes} cannot have written"
        return changes

    def _set_aside(self, reason: str) -> None:
        """Keep an invalid file for inspection. Raises WblabError."""
        aside = self._path.with_suffix(".ignored")
        try:
            os.replace(self._path, aside)
        except OSError as error:
            raise WblabError(f"cannot set the journal {self._path} aside: {error.strerror}: remove it") from None
        self.ignored = f"the journal, now {aside}: {reason}"

    def _change(self, row: object, root: Path | None) -> Change | None:
        """Return the change that a row describes; None if it describes none that can have been made."""
        try:
            change = from_row(row)
        except InputError:
            return None
        return change if self._verb.can_make(change, root) else None

    def _write(self, changes: list[Change]) -> None:
        rows = [to_row(change) for change in changes]
        try:
            if changes:
                with replace_file(self._path) as file:
                    file.write(json.dumps({"boot": self._boot, "changes": rows}).encode())
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise WblabError(f"cannot write the journal {self._path}: {error.strerror}: nothing was changed") from None
        self.changes = changes


def journal_of(verb: ChangingVerb, state: Path) -> Journal:
    """Return a verb's journal in a directory. Raises WblabError."""
    return Journal(state / f"{verb.name}.json", verb)


@contextmanager
def changing(verb: ChangingVerb, state: Path) -> Iterator[Journal]:
    """Yield a verb's journal to the only process of it that changes this machine. Raises WblabError.

    state: the directory of journals and locks, which must belong to root alone.
    """
    require_root(verb.needs)
    with alone(state, f"{verb.name}.lock", verb.runs, verb.instead):
        for partial in state.glob(f".{verb.name}.json.*.partial"):  # one was killed while it wrote
            with suppress(OSError):
                partial.unlink()
        yield journal_of(verb, state)
