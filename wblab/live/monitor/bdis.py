"""Find a bdi's disk from its name in events: 8:0, 0:53 for a server, btrfs-1."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.live.monitor.disks import DISKSTATS, Entry, entries

_MADE = ("dm-", "md")  # made of other disks


@dataclass(frozen=True)
class Files:
    """Where a machine shows its disks, filesystems and mounts; by default, this one."""

    diskstats: Path = DISKSTATS
    blocks: Path = Path("/sys/block")
    btrfs: Path = Path("/sys/fs/btrfs")
    mounts: Path = Path("/proc/self/mountinfo")


_FILES = Files()


class Bdis:
    """Disks by the names of their bdis."""

    def __init__(self, called: Mapping[str, str], files: Files = _FILES) -> None:
        """`called`: names to show in place of the kernel's. files: of the machine."""
        self._called, self._files = called, files
        self._known: dict[str, str] = {}

    def disk(self, bdi: str) -> str:
        """Return the bdi's disk, below anything made of one disk; or a server; or the bdi's own name if unknown."""
        if bdi not in self._known:
            self._known[bdi] = self._find(bdi)
        return self._known[bdi]

    def forget(self) -> None:
        """Forget what was found: a newly plugged device may reuse a number."""
        self._known.clear()

    def _find(self, bdi: str) -> str:
        with suppress(OSError):
            disks = {entry.name: entry for entry in entries(self._files.diskstats.read_bytes())}
            numbers = {entry.number: entry for entry in disks.values()}
            if bdi in numbers:
                name = _lowest(numbers[bdi], disks, self._files.blocks)
                return self._called.get(name, name)
            if bdi.startswith("btrfs-"):
                return _only(
                    [disks[part].whole for part in _parts_of_btrfs(bdi, self._files.btrfs) if part in disks], bdi
                )
            for line in self._files.mounts.read_text().splitlines():  # proc_pid_mountinfo(5)
                words, _, source = line.partition(" - ")
                if words.split()[2] == bdi.partition("-")[0]:
                    return source.split()[1]
        return bdi


def _lowest(entry: Entry, disks: Mapping[str, Entry], blocks: Path) -> str:
    """Return the disk underneath, or the device itself if it is made of several."""
    if not entry.whole.startswith(_MADE):
        return entry.whole
    with suppress(OSError):
        parts = os.listdir(blocks / entry.name / "slaves")
        below = {_lowest(disks[part], disks, blocks) for part in parts if part in disks}
        return _only([disks[name].whole for name in below], entry.whole)
    return entry.whole


def _only(names: list[str], otherwise: str) -> str:
    return names[0] if len(set(names)) == 1 else otherwise


def _parts_of_btrfs(bdi: str, btrfs: Path) -> list[str]:
    for filesystem in btrfs.iterdir():
        with suppress(OSError):
            if os.path.basename(os.readlink(filesystem / "bdi")) == bdi:
                return os.listdir(filesystem / "devices")
    return []
