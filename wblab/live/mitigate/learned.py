"""What is known about disks, kept from one start of the daemon to the next."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from wblab.core.files import read_json
from wblab.lab.held import replace_file
from wblab.machine.trust import distrust

_MOST_BYTES, _SHOWN = 1 << 18, 200
_BLOCKS = Path("/sys/block")
LEAST, MOST = 1 << 14, 1 << 36  # bytes/s: estimates outside this range are clamped


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A disk's bandwidth in bytes/s, and whether it has a large write cache of its own."""

    bandwidth: float
    cached: bool = False


def recall(path: Path, *, is_root: bool | None = None) -> tuple[dict[str, Learned], str]:
    """Return the content of the file by disk `identity`, and a description of what cannot be used.

    Disks that cannot be used are measured again. is_root: whether we are; by default, as it is.
    """
    try:
        if _is_root(is_root) and (reason := distrust(path)):
            return {}, f"{path}: {reason}"
        table = read_json(path, _MOST_BYTES)
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, f"{path}: {error.strerror}"
    except ValueError as error:
        return {}, f"{path} is not JSON: {error}"
    if not isinstance(table, dict):
        return {}, f"{path} has no table of disks"
    known = {disk: learned for disk, value in table.items() if (learned := _learned(value))}
    strange = sorted(table.keys() - known.keys())
    return known, f"{path}: impossible entries: {', '.join(strange)[:_SHOWN]}" if strange else ""


def remember(path: Path, learned: Mapping[str, Learned], *, is_root: bool | None = None) -> None:
    """Add what is known to the file, if it can be written. May block on the disk: call it last.

    is_root: see `recall`.
    """
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if _is_root(is_root) and distrust(path.parent):
            return
        table = recall(path)[0] | dict(learned)
        with replace_file(path) as file:
            file.write(json.dumps({disk: asdict(what) for disk, what in table.items()}).encode())


def _is_root(given: bool | None) -> bool:
    return os.geteuid() == 0 if given is None else given


def _learned(value: object) -> Learned | None:
    """Return a row of the file; None if it is impossible."""
    if not isinstance(value, dict) or value.keys() != {"bandwidth", "cached"}:
        return None
    match value["bandwidth"], value["cached"]:
        case int() | float() as bandwidth, bool() as cached if not isinstance(bandwidth, bool):
            return Learned(bandwidth=float(bandwidth), cached=cached) if LEAST <= bandwidth <= MOST else None
        case _:
            return None


def identity(disk: str, blocks: Path = _BLOCKS) -> str:
    """Return what identifies a disk: a stick keeps its model and size in any port. blocks: /sys/block."""
    model = _read(blocks / disk / "device/model")
    return " ".join(filter(None, [model or disk, _read(blocks / disk / "size")]))


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
