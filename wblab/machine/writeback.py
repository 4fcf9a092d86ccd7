"""What decides a machine's writeback: memory, thresholds and settings."""

import os
from pathlib import Path

from wblab.core.check import DIRTY_SYSCTLS
from wblab.core.units import Bytes
from wblab.machine.block import built_on, whole_disk

_SYS = Path("/sys")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def memory_bytes() -> Bytes:
    """Return MemTotal of /proc/meminfo."""
    return Bytes(_table(Path("/proc/meminfo"))["MemTotal:"] * 1024)


def available_bytes() -> Bytes:
    """Return MemAvailable of /proc/meminfo or, where a kernel does not show it, MemFree."""
    found = _table(Path("/proc/meminfo"))
    return Bytes(found.get("MemAvailable:", found["MemFree:"]) * 1024)


def thresholds() -> dict[str, int]:
    """Return the present thresholds of the page cache and its dirty amount, in bytes (/proc/vmstat)."""
    values = _table(Path("/proc/vmstat"))
    names = {
        "background": "nr_dirty_background_threshold",
        "dirty": "nr_dirty_threshold",
        "now_dirty": "nr_dirty",
        "now_writeback": "nr_writeback",
    }
    return {name: values[key] * _PAGE_BYTES for name, key in names.items() if key in values}


def dirty_settings() -> dict[str, int | str]:
    """Return the vm.dirty* settings that this kernel has."""
    paths = {key: Path("/proc/sys", *key.split(".")) for key in DIRTY_SYSCTLS}
    return {key: int(path.read_text()) for key, path in paths.items() if path.exists()}


def backing_devices(disk: str, sys: Path = _SYS) -> list[Path]:
    """Return the directories in /sys/class/bdi that limit a disk's dirty memory.

    There is one for the disk, one for each device built on it alone, and one for each btrfs on nothing else. A page
    counts for the one of its filesystem. sys: the machine's /sys.
    """
    devices = built_on((sys / "block" / disk).resolve())
    found = [device / "bdi" for device in devices]
    for link in sorted((sys / "fs/btrfs").glob("*/bdi")):
        members = {whole_disk(member.resolve()) for member in (link.parent / "devices").iterdir()}
        if members <= set(devices):
            found.append(link)
    return [sys / "class/bdi" / link.resolve().name for link in found if link.exists()]


def _table(path: Path) -> dict[str, int]:
    lines = (line.split() for line in path.read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1}
