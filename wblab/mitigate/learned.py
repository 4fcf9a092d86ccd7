"""What disks were found to take, kept from one start of the daemon to the next."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from wblab.core.files import read_json, replace_file
from wblab.machine.trust import distrust

_MOST_BYTES, _SHOWN = 1 << 18, 200
_SYS = Path("/sys/block")
LEAST, MOST = 1 << 14, 1 << 36  # bytes/s: no disk takes less or more, whatever it looks like


def recall(path: Path) -> tuple[dict[str, float], str]:
    """Return the bandwidths in the file, in bytes/s, by what `identity` returns of a disk.

    With it, in words, what of the file cannot be used: those disks are measured anew.
    """
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


def remember(path: Path, bandwidths: Mapping[str, float]) -> None:
    """Add what is known to the file; where that cannot be written, it is not kept. For the end: it may have to wait."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0 and distrust(path.parent):
            return
        table = recall(path)[0] | dict(bandwidths)
        with replace_file(path) as file:
            file.write(json.dumps(table).encode())


def _is_bandwidth(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and LEAST <= value <= MOST


def identity(disk: str) -> str:
    """Return what tells a disk from another one: a stick keeps its model and size wherever it is plugged in."""
    model = _read(_SYS / disk / "device/model")
    return " ".join(filter(None, [model or disk, _read(_SYS / disk / "size")]))


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
