"""Measuring the disk below a directory: what it is, how much may be written there, and what was found."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.units import format_bytes
from wblab.disks.plan import LEAST_FILE, MOST_FILE, Bounds, measure
from wblab.disks.steps import Measured
from wblab.disks.testfile import test_file
from wblab.lab.progress import Report
from wblab.machine.place import Place, Traffic, place_of, traffic

_FILE_SHARE = 4  # of all that is written: the rest goes to the same places again
_SPARE = 2  # times the file's size must be free
_OTHERS = 1.2  # times what we wrote: more is somebody else's


@dataclass(frozen=True)
class Site:
    """A directory that is held, and what it is on."""

    directory: Path
    held: int
    place: Place
    device: Path

    @property
    def disk_name(self) -> str:
        """What its maker calls the disk; else the kernel's name of it."""
        names = [_maker(disk) or disk.name for disk in self.place.disks]
        return ", ".join(dict.fromkeys(names)) or self.device.name

    def __str__(self) -> str:
        """In words, for people."""
        own = "" if self.disk_name == self.device.name else f" ({self.disk_name})"
        return f"{str(self.directory)!r} is on {self.place.filesystem}, on {self.device.name}{own}"

    def bounds(self, most_bytes: int, most_s: float) -> Bounds:
        """Return what a measurement may take here. Raises InputError where there is no room for one."""
        state = os.fstatvfs(self.held)
        free = state.f_bavail * state.f_frsize
        file_bytes = min(MOST_FILE, most_bytes // _FILE_SHARE, free // _SPARE) // LEAST_FILE * LEAST_FILE
        if free // _SPARE < LEAST_FILE:
            needed = format_bytes(_SPARE * LEAST_FILE)
            raise InputError(f"{self}: only {format_bytes(free)} are free, and {needed} are needed: make room")
        if not file_bytes:
            needed = format_bytes(_FILE_SHARE * LEAST_FILE)
            raise InputError(f"--max-bytes {format_bytes(most_bytes)} is too little to measure: give at least {needed}")
        return Bounds(most_bytes=most_bytes, most_s=most_s, file_bytes=file_bytes)


@dataclass(frozen=True)
class Survey:
    """What was measured. is_direct: around the page cache. notes: what makes it doubtful, in words."""

    measured: Measured
    is_direct: bool
    notes: tuple[str, ...]


@contextmanager
def site(directory: Path) -> Iterator[Site]:
    """Yield what a directory is on. Raises InputError for one that is on no disk."""
    try:
        held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"cannot measure below {str(directory)!r}: {error.strerror}: give a directory") from None
    try:
        place = place_of(held)
        if place.device is None:
            raise InputError(
                f"{str(directory)!r} is on {place.filesystem}, on no disk of this machine: give a directory on one"
            )
        yield Site(directory, held, place, place.device)
    finally:
        os.close(held)


def survey(site: Site, bounds: Bounds, report: Report) -> Survey:
    """Measure the disk below a directory. Raises InputError where it cannot be written to."""
    try:
        with test_file(site.held) as file:
            file.reserve(bounds.file_bytes)
            before = _traffic(site)
            measured = measure(file, bounds, report)
            after = _traffic(site)
    except OSError as error:  # also ENOSPC, EDQUOT
        raise InputError(f"{site}: cannot measure it: {error.strerror}: give another directory") from None
    notes = [] if file.direct else [f"{site.place.filesystem} has no O_DIRECT: the page cache's work is in all times"]
    if before and after:
        wrote = sum(step.size for step in measured.steps if step.action == "write") + bounds.file_bytes
        notes += _doubts(wrote, after.written_bytes - before.written_bytes)
    return Survey(measured, file.direct, tuple(notes))


def _doubts(wrote: int, arrived: int) -> list[str]:
    """Return what to say of bytes that a device got while we wrote others."""
    if arrived < wrote / 2:
        return [f"only {arrived >> 20} of {wrote >> 20} MiB came to the disk: this is not the disk's own speed"]
    if arrived > _OTHERS * wrote + LEAST_FILE:
        return [f"others wrote {(arrived - wrote) >> 20} MiB meanwhile: measure again when they are quiet"]
    return []


def _traffic(site: Site) -> Traffic | None:
    with suppress(OSError, ValueError, IndexError):
        return traffic(site.device)
    return None


def _maker(disk: Path) -> str:
    """Return what a disk calls itself: SCSI, SATA and USB have a vendor and a model, NVMe a model, cards a name."""
    words = []
    for file in ("vendor", "model", "name"):
        with suppress(OSError, ValueError):
            text = (disk / "device" / file).read_text().strip()
            words += [text] if text and text != "ATA" and not text.startswith("0x") else []
    return " ".join(words)
