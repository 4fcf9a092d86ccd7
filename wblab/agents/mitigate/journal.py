"""What was changed and not yet undone, in a file that a killed daemon leaves to the next one."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wblab.agents.mitigate.changes import KINDS, Change
from wblab.core.errors import InputError, WblabError
from wblab.core.tables import from_table, to_table

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Journal:
    """The changes, oldest first. Each is written to the file before it is made, and removed after it was undone.

    The file is replaced as a whole, so that a kill at any moment leaves the old or the new one. It is not synced: it
    lives on a tmpfs, and what it tells of does not outlive the machine's run either; after a boot it is void.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._boot = _BOOT.read_text().strip()
        self.changes: list[Change] = self._read()

    def add(self, changes: Sequence[Change]) -> None:
        """Note changes that are made next. Raises WblabError if that fails: they must then not be made."""
        if changes:
            self._write([*self.changes, *changes])

    def undo(self, changes: Sequence[Change]) -> list[str]:
        """Undo some of the changes, last first, and return what failed, in words; a failed one is not tried again."""
        failures = []
        for change in reversed(changes):
            try:
                change.undo()
            except OSError as error:
                failures.append(f"cannot undo {change}: {error.strerror}")
        undone = set(changes)
        self._write([change for change in self.changes if change not in undone])
        return failures

    def _read(self) -> list[Change]:
        try:
            table = json.loads(self._path.read_text())
            if table["boot"] != self._boot:
                return []
            return [_change(row) for row in table["changes"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError, InputError) as error:
            raise WblabError(
                f"cannot read the journal {self._path}: {error}: put back by hand, and remove it"
            ) from None

    def _write(self, changes: list[Change]) -> None:
        rows = [{"kind": change.kind, **to_table(change)} for change in changes]
        beside = self._path.with_suffix(".new")
        try:
            if changes:
                beside.write_text(json.dumps({"boot": self._boot, "changes": rows}))
                os.replace(beside, self._path)
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise WblabError(f"cannot write the journal {self._path}: {error.strerror}: nothing is changed") from None
        self.changes = changes


def _change(row: dict[str, Any]) -> Change:
    fields = dict(row)
    return from_table(KINDS[fields.pop("kind")], fields, exact=True)
