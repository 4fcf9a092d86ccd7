"""What disks were found to take, kept from one start of the daemon to the next."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from wblab.core.files import read_json, replace_file
from wblab.machine.trust import distrust
from wblab.mitigate.disk import LEAST, MOST

_MOST_BYTES, _SHOWN = 1 << 18, 200
_SYS = Path("/sys/block")


def recall(path: Path, disks: list[str]) -> tuple[dict[str, float], str]:
    """Return the bandwidths of these disks, in bytes/s, as far as they are known and the disks still are the same.

    With it, in words, what of the file cannot be used: those are measured anew.
    """
    table, ignored = _table(path)
    return {disk: table[_identity(disk)] for disk in disks if _identity(disk) in table}, ignored


def remember(path: Path, bandwidths: Mapping[str, float]) -> None:
    """Add what is known to the file; where that cannot be written, it is not kept. For the end: it may have to wait."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0 and distrust(path.parent):
            return
        table = _table(path)[0] | {_identity(disk): bandwidth for disk, bandwidth in bandwidths.items()}
        with replace_file(path) as file:
            file.write(json.dumps(table).encode())


def _table(path: Path) -> tuple[dict[str, float], str]:
    """Return the bandwidths in the file by disk, and what of it is ignored."""
    try:
        if os.geteuid() == 0 and (reason := distrust(path)):
            return {}, f"{path}: {reason}"
        table = read_json(path, _MOST_BYTES)
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, f"{path}: {error.strerror}"
    except ValueError as error:
        return {}, f"{path} is no JSON: {error}"
    if not isinstance(table, dict):
        return {}, f"{path} has no bandwidths by disk"
    known = {disk: float(value) for disk, value in table.items() if _is_bandwidth(value)}
    strange = sorted(table.keys() - known.keys())
    return known, f"{path}: no bandwidth: {', '.join(strange)[:_SHOWN]}" if strange else ""


def _is_bandwidth(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and LEAST <= value <= MOST


def _identity(disk: str) -> str:
    """Return what tells a disk from another one of the same name."""
    return " ".join([disk, _read(_SYS / disk / "size"), _read(_SYS / disk / "device/model")]).strip()


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
