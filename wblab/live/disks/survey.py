"""Measure the disk under a directory: which one it is, how much may be written, and the results."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError
from wblab.core.units import format_bytes
from wblab.lab.progress import Report
from wblab.live.disks.plan import LEAST_FILE, MOST_FILE, Bounds, DiskMeasurement, measure
from wblab.live.disks.queue import guest_disk, queue_from
from wblab.live.disks.testfile import test_file
from wblab.machine.block import driver_of, queue_settings
from wblab.machine.storage import Storage, Traffic, storage_of, traffic

_FILE_SHARE = 4  # of all that is written: the rest overwrites the same blocks
_SPARE = 2  # multiple of the file's size that must be free
_OTHERS = 1.2  # multiple of what we wrote: more comes from other programs


@dataclass(frozen=True)
class Site:
    """An open directory, and the disk that it is on."""

    directory: Path
    held: int
    place: Storage
    device: Path

    @property
    def disk_name(self) -> str:
        """The disk's name for itself; else the kernel's."""
        names = [_maker(disk) or disk.name for disk in self.place.disks]
        return ", ".join(dict.fromkeys(names)) or self.device.name

    def __str__(self) -> str:
        """Describe it in words."""
        own = "" if self.disk_name == self.device.name else f" ({self.disk_name})"
        return f"{str(self.directory)!r} is on {self.place.filesystem}, on {self.device.name}{own}"

    def of_queue(self) -> dict[str, Any]:
        """Return what a spec's disk has of the queue of the disk, or of the first one below it; empty if it has none.

        Raises InputError.
        """
        queue = queue_from(queue_settings(self.place.disks[0])) if self.place.disks else None
        return guest_disk(queue, self.place.schedulers()) if queue else {}

    def queue_notes(self) -> list[str]:
        """Return what of its queue a file for `--disk` does not have, in words. Raises InputError."""
        of_queue = self.of_queue()
        if not of_queue:
            return [f"{self.device.name} has no queue of its own: the file says nothing of one"]
        drivers = [driver_of(disk) for disk in self.place.disks]
        if len(set(drivers)) > 1:
            named = ", ".join(dict.fromkeys(driver or "unknown" for driver in drivers))
            return [f"{self.device.name} is on disks of several drivers ({named}): the first one counts"]
        if drivers[0] is None:
            name = self.place.disks[0].name
            driver = of_queue["driver"]
            return [f"the lab does not know the driver of {name}: the file has {driver} with all settings of the queue"]
        return []

    def free_bytes(self) -> int:
        """Return the room for an ordinary user. Raises OSError."""
        state = os.fstatvfs(self.held)
        return state.f_bavail * state.f_frsize

    def bounds(self, most_bytes: int, most_s: float, free: int | None = None) -> Bounds:
        """Return the limits of a measurement here. Raises InputError if there is no room. free: bytes, if known."""
        free = self.free_bytes() if free is None else free
        file_bytes = min(MOST_FILE, most_bytes // _FILE_SHARE, free // _SPARE) // LEAST_FILE * LEAST_FILE
        if free // _SPARE < LEAST_FILE:
            needed = format_bytes(_SPARE * LEAST_FILE)
            raise InputError(f"{self}: {needed} must be free, but only {format_bytes(free)} are: make room")
        if not file_bytes:
            needed = format_bytes(_FILE_SHARE * LEAST_FILE)
            raise InputError(f"--max-bytes {format_bytes(most_bytes)} is too little to measure: give at least {needed}")
        return Bounds(most_bytes=most_bytes, most_s=most_s, file_bytes=file_bytes)


@dataclass(frozen=True)
class Survey:
    """The result. is_direct: bypassing the page cache. notes: reasons for doubt, in words."""

    measured: DiskMeasurement
    is_direct: bool
    notes: tuple[str, ...]


@contextmanager
def site(directory: Path) -> Iterator[Site]:
    """Yield the disk that a directory is on. Raises InputError if it is on none."""
    try:
        held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"cannot measure under {str(directory)!r}: {error.strerror}: give another directory") from None
    try:
        place = storage_of(held)
        if place.device is None:
            raise InputError(
                f"{str(directory)!r} is on {place.filesystem}, not on a disk of this machine: give a directory on "
                "a disk"
            )
        yield Site(directory, held, place, place.device)
    finally:
        os.close(held)


def survey(site: Site, bounds: Bounds, report: Report) -> Survey:
    """Measure the disk under a directory. Raises InputError if it cannot be written to."""
    try:
        with test_file(site.held) as file:
            file.reserve(bounds.file_bytes)
            before = _traffic(site)
            measured = measure(file, bounds, report)
            after = _traffic(site)
    except OSError as error:  # also ENOSPC, EDQUOT
        raise InputError(f"{site}: cannot measure it: {error.strerror}: give another directory") from None
    notes = site.queue_notes()
    if not file.direct:
        notes.append(f"{site.place.filesystem} has no O_DIRECT: all times include the page cache's work")
    if before and after:
        wrote = sum(step.size for step in measured.steps if step.action == "write")
        notes += _doubts(wrote, after.written_bytes - before.written_bytes)
    return Survey(measured, file.direct, tuple(notes))


def _doubts(wrote: int, arrived: int) -> list[str]:
    """Return reasons for doubt if a device got more or fewer bytes than we wrote."""
    if arrived < wrote / 2:
        return [f"only {arrived >> 20} of {wrote >> 20} MiB reached the disk: this is not the disk's own speed"]
    if arrived > _OTHERS * wrote + LEAST_FILE:
        return [f"other programs wrote {(arrived - wrote) >> 20} MiB meanwhile: measure again on a quiet machine"]
    return []


def _traffic(site: Site) -> Traffic | None:
    with suppress(OSError, ValueError, IndexError):
        return traffic(site.device)
    return None


def _maker(disk: Path) -> str:
    """Return a disk's name for itself: vendor and model (SCSI, SATA, USB), model (NVMe), or name (cards)."""
    words = []
    for file in ("vendor", "model", "name"):
        with suppress(OSError, ValueError):
            text = (disk / "device" / file).read_text().strip()
            words += [text] if text and text != "ATA" and not text.startswith("0x") else []
    return " ".join(words)
