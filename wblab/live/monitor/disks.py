"""Activity of the machine's disks, from /proc/diskstats, newly plugged ones included."""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError, nearest
from wblab.core.units import NS_PER_MS, Bytes
from wblab.live.monitor.proc import KeptOpen
from wblab.live.monitor.samples import Worked

DISKSTATS = Path("/proc/diskstats")
_SECTOR_BYTES = 512  # fixed, whatever the disk's sector size: Documentation/admin-guide/iostats.rst
_NAME, _WRITTEN, _BUSY = 2, 9, 12
# Skipped: devices made of other disks, which would count the same bytes twice; memory; and devices never written to.
_NO_DISK = re.compile(r"(loop|ram|zram|dm-|md|sr|fd)\d")


@dataclass(frozen=True)
class MonitoredDisk:
    """A line of /proc/diskstats. number: of the device, major:minor. whole: the disk that it is, or is a part of."""

    number: str
    name: str
    whole: str
    written: int
    busy_ns: int


def entries(text: bytes) -> Iterator[MonitoredDisk]:
    """Yield the entries of /proc/diskstats.

    A disk comes before its partitions, whose names begin with its own: sda, sda1; nvme0n1, nvme0n1p1.
    """
    whole = ""
    for line in text.decode(errors="replace").splitlines():
        words = line.split()
        if len(words) <= _BUSY:  # the last line of a long list may be cut off
            continue
        name = words[_NAME]
        if not _is_part(name, whole):
            whole = name
        yield MonitoredDisk(
            f"{words[0]}:{words[1]}",
            name,
            whole,
            int(words[_WRITTEN]) * _SECTOR_BYTES,
            int(words[_BUSY]) * NS_PER_MS,
        )


def _is_part(name: str, whole: str) -> bool:
    """Whether a device is a partition of a disk: loop1p1 is one of loop1, loop10 is not."""
    if not whole or not name.startswith(whole):
        return False
    rest = name[len(whole) :]
    return (rest[1:] if whole[-1].isdigit() and rest[:1] == "p" else rest if not whole[-1].isdigit() else "").isdigit()


def counters(text: bytes, only: Collection[str] = ()) -> dict[str, tuple[int, int]]:
    """Return the bytes written and the busy time in ns of each whole disk, from the text of /proc/diskstats.

    only: names to return; these may include disks made of others, such as loop7 and dm-0.
    """
    return {
        entry.name: (entry.written, entry.busy_ns)
        for entry in entries(text)
        if (entry.name in only if only else entry.name == entry.whole and not _NO_DISK.match(entry.name))
    }


def find_disk(name: str, diskstats: Path = DISKSTATS) -> str:
    """Return the name of a disk of this machine: sda for sda or /dev/sda. Raises InputError if there is none.

    Disks made of others, such as loop7 and dm-0, count too. diskstats: the machine's /proc/diskstats.
    """
    try:
        text = diskstats.read_bytes()
    except OSError as error:
        raise InputError(f"--disk: this kernel lists no disks: {error.strerror}: leave --disk out") from None
    known = sorted(counters(text))
    whole = sorted(entry.name for entry in entries(text) if entry.name == entry.whole)
    if (bare := name.removeprefix("/dev/")) not in whole:
        made = " (or a disk made of others: loop0, dm-0)" if len(whole) > len(known) else ""
        raise InputError(f"--disk: no disk {name!r}{nearest(bare, whole)}: give one of {', '.join(known)}{made}")
    return bare


class DiskActivity:
    """Activity of disks since the last sample: the `most` that were busiest, or those with given names.

    `called`: names to show in place of the kernel's. Returns nothing if the kernel lists no disks.
    """

    def __init__(
        self, most: int, only: Sequence[str], now_ns: int, called: Mapping[str, str], diskstats: Path = DISKSTATS
    ) -> None:
        self._most, self._only, self._last_ns, self._called = most, only, now_ns, called
        self._last: dict[str, tuple[int, int]] = {}
        self._file: KeptOpen | None = None
        with suppress(OSError):
            self._file = KeptOpen(diskstats)
            self._last = counters(self._file.read(), only)

    def since_last(self, now_ns: int) -> tuple[Worked, ...]:
        """Return the active disks, busiest first. A disk whose counters restarted appears in the next sample."""
        if self._file is None:
            return ()
        current, span_ns = counters(self._file.read(), self._only), now_ns - self._last_ns
        rows = []
        for name, (written, busy_ns) in current.items():
            before = self._last.get(name, (0, 0))
            shown = self._called.get(name) or name
            work = Worked(now_ns, span_ns, shown, Bytes(written - before[0]), busy_ns - before[1])
            if name in self._only or (not self._only and work.busy_ns):
                rows.append(work)
        self._last_ns, self._last = now_ns, current
        rows = [row for row in rows if row.written >= 0 and (row.busy_ns or 0) >= 0]
        return tuple(sorted(rows, key=lambda row: (-(row.busy_ns or 0), row.disk))[: self._most])


# Find a bdi's disk from its name in events: 8:0, 0:53 for a server, btrfs-1.

_MADE = ("dm-", "md")  # made of other disks


@dataclass(frozen=True)
class MachineDisks:
    """Where a machine shows its disks, filesystems and mounts; by default, this one."""

    diskstats: Path = DISKSTATS
    blocks: Path = Path("/sys/block")
    btrfs: Path = Path("/sys/fs/btrfs")
    mounts: Path = Path("/proc/self/mountinfo")


_FILES = MachineDisks()


class Bdis:
    """Disks by the names of their bdis."""

    def __init__(self, called: Mapping[str, str], files: MachineDisks = _FILES) -> None:
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


def _lowest(entry: MonitoredDisk, disks: Mapping[str, MonitoredDisk], blocks: Path) -> str:
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
