"""What each disk of the machine does, from /proc/diskstats: also of one that was just plugged in."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError, nearest
from wblab.core.units import NS_PER_MS, Bytes
from wblab.monitor.proc import KeptOpen
from wblab.monitor.samples import Worked

DISKSTATS = Path("/proc/diskstats")
_SECTOR_BYTES = 512  # whatever the disk has: Documentation/admin-guide/iostats.rst
_NAME, _WRITTEN, _BUSY = 2, 9, 12
# What is made of other disks, and would count their bytes again; memory; and what is not written to.
_NO_DISK = re.compile(r"(loop|ram|zram|dm-|md|sr|fd)\d")


@dataclass(frozen=True)
class Entry:
    """A line of /proc/diskstats. number: of the device, major:minor. whole: the disk that it is, or is a part of."""

    number: str
    name: str
    whole: str
    written: int
    busy_ns: int


def entries(text: bytes) -> Iterator[Entry]:
    """Yield the entries of /proc/diskstats.

    A disk stands before its partitions, which begin with its name: sda, sda1; nvme0n1, nvme0n1p1.
    """
    whole = ""
    for line in text.decode(errors="replace").splitlines():
        words = line.split()
        if len(words) <= _BUSY:  # the last of very many
            continue
        name = words[_NAME]
        if not _is_part(name, whole):
            whole = name
        yield Entry(
            f"{words[0]}:{words[1]}",
            name,
            whole,
            int(words[_WRITTEN]) * _SECTOR_BYTES,
            int(words[_BUSY]) * NS_PER_MS,
        )


def _is_part(name: str, whole: str) -> bool:
    """Whether a device is a partition of a disk; of loop1, loop1p1 is, and loop10 is not."""
    if not whole or not name.startswith(whole):
        return False
    rest = name[len(whole) :]
    return (rest[1:] if whole[-1].isdigit() and rest[:1] == "p" else rest if not whole[-1].isdigit() else "").isdigit()


def counters(text: bytes, only: Collection[str] = ()) -> dict[str, tuple[int, int]]:
    """Return of each whole disk in the text of /proc/diskstats the bytes written, and the ns in which it was busy.

    only: the names of those that are asked for; these may also be made of others, as loop7 and dm-0 are.
    """
    return {
        entry.name: (entry.written, entry.busy_ns)
        for entry in entries(text)
        if (entry.name in only if only else entry.name == entry.whole and not _NO_DISK.match(entry.name))
    }


def find_disk(name: str) -> str:
    """Return the name of a disk of this machine: of sda or /dev/sda, sda. Raises InputError for what is none.

    What is made of another disk, as loop7 and dm-0 are, is one if it is asked for.
    """
    try:
        text = DISKSTATS.read_bytes()
    except OSError as error:
        raise InputError(f"--disk: this kernel tells of no disks: {error.strerror}: leave it out") from None
    known = sorted(counters(text))
    whole = sorted(entry.name for entry in entries(text) if entry.name == entry.whole)
    if (bare := name.removeprefix("/dev/")) not in whole:
        made = " (or of those made of others: loop0, dm-0)" if len(whole) > len(known) else ""
        raise InputError(f"--disk: no disk {name!r}{nearest(bare, whole)}: give one of {', '.join(known)}{made}")
    return bare


class Work:
    """What disks did since it was last asked: the `most` that were busy longest, or those of some names.

    `called`: what they are called here, where the kernel has other names. Nothing where the kernel tells of no disks.
    """

    def __init__(self, most: int, only: Sequence[str], now_ns: int, called: Mapping[str, str]) -> None:
        self._most, self._only, self._last_ns, self._called = most, only, now_ns, called
        self._last: dict[str, tuple[int, int]] = {}
        self._file: KeptOpen | None = None
        with suppress(OSError):
            self._file = KeptOpen(DISKSTATS)
            self._last = counters(self._file.read(), only)

    def since_last(self, now_ns: int) -> tuple[Worked, ...]:
        """Return those that did anything, the busiest first. One whose counts began anew is told of the next time."""
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
