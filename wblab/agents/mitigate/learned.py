"""What disks were found to take, kept from one start of the daemon to the next."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_SYS = Path("/sys/block")


def recall(path: Path, disks: list[str]) -> dict[str, float]:
    """Return the bandwidths of these disks, in bytes/s, as far as they are known and the disks still are the same."""
    table = _table(path)
    return {disk: table[_identity(disk)] for disk in disks if _identity(disk) in table}


def remember(path: Path, bandwidths: Mapping[str, float]) -> None:
    """Add what is known to the file; where that cannot be written, it is not kept. For the end: it may have to wait."""
    table = _table(path) | {_identity(disk): bandwidth for disk, bandwidth in bandwidths.items()}
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(table))
        os.replace(beside, path)


def _table(path: Path) -> dict[str, float]:
    """Return the bandwidths in the file by disk; none where it was not written, or not by us: they are measured."""
    try:
        return {disk: float(bandwidth) for disk, bandwidth in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _identity(disk: str) -> str:
    """Return what tells a disk from another one of the same name."""
    return " ".join([disk, _read(_SYS / disk / "size"), _read(_SYS / disk / "device/model")]).strip()


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
