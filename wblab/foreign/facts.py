"""The facts of another machine, as `facts.sh` prints them: its files of /proc and /sys, and the rates of its disks."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.files import open_file
from wblab.foreign.habits import Habits, habits_in
from wblab.foreign.machinetext import read_machine
from wblab.foreign.recording import facts_of, facts_text

_MOST_BYTES = 16 << 20
_HEAD, _PEEK = b"==> /", 64 << 10


@dataclass(frozen=True)
class Facts:
    """The facts of a machine. name: of the file; files: what they contain, by path.

    limits: its background threshold and its dirty limit, in bytes; None if they are not there. rates: at which each
    disk was written while it was busy, in bytes/s, where it was. habits: of its programs, as a recording shows them.
    """

    name: str
    files: Mapping[str, str]
    limits: tuple[int, int] | None
    rates: Mapping[str, float]
    habits: Habits


def has_facts(path: Path) -> bool:
    """Whether a file has the facts of a machine: a text of facts.sh, or a tar of it or of a recorder."""
    try:
        with open_file(path, follow=True) as file:
            begin = file.read(_PEEK)
    except OSError:
        return False
    return _HEAD in begin if b"\0" not in begin else bool(facts_text(path))


def read_facts(path: Path) -> Facts:
    """Return the facts in a file. Raises InputError."""
    text = facts_text(path) or _text(path)
    machine, files = read_machine(text), facts_of(text)
    if machine is None or not files:
        how = "wblab recorder --facts > facts.sh; there: sh facts.sh > facts.txt"
        raise InputError(f"{path} has no facts of a machine: {how}")
    limits = machine.limits
    rates = {disk.name: disk.rate_bps for disk in machine.real_disks if disk.rate_bps}
    both = (limits.background.size_bytes, limits.dirty.size_bytes) if limits else None
    return Facts(path.name, files, both, rates, habits_in(path))


def _text(path: Path) -> str:
    try:
        with open_file(path, follow=True) as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if len(content) > _MOST_BYTES or b"\0" in content:
        raise InputError(f"{path} is no text of facts.sh, and no tar that has one")
    return content.decode(errors="replace")
