"""Where a directory is stored: its filesystem, the block device under it, and that device's traffic."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError
from wblab.lab.held import path_of
from wblab.machine.block import NUMBERS, scheduler, whole_disk

_SECTOR_BYTES = 512  # of block/stat, whatever the device's sector size: Documentation/block/stat.rst
_READ_SECTORS, _WRITTEN_SECTORS, _BUSY_MS = 2, 6, 9
_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Storage:
    """A directory's filesystem. device: the filesystem's, in /sys; None for tmpfs, overlay and the like.

    disks: the physical disks, also in /sys: the disk of a partition, the disks under a logical volume.
    """

    filesystem: str
    source: str
    mount_options: tuple[str, ...]
    device: Path | None
    disks: tuple[Path, ...]

    def schedulers(self) -> str:
        """Return the disks' I/O schedulers, each once, joined by commas; empty if there are none."""
        return ",".join(dict.fromkeys(scheduler(disk) for disk in self.disks))


@dataclass(frozen=True)
class Traffic:
    """A device's totals since it appeared: bytes, and the time with a request in flight."""

    read_bytes: int
    written_bytes: int
    busy_ns: int


def find_storage(directory: Path, mounts: Path = _MOUNTS) -> Storage:
    """Return where a directory is stored. Raises OSError, InputError; see `storage_of`."""
    held = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return storage_of(held, mounts)
    finally:
        os.close(held)


def storage_of(held: int, mounts: Path = _MOUNTS) -> Storage:
    """Return where a directory is stored, given by descriptor (/proc/self/mountinfo, proc(5)).

    Raises OSError; InputError if no mount contains the directory, as in a chroot whose root is not a mount.
    """
    directory = path_of(held)
    best: tuple[int, list[str], list[str]] | None = None
    for line in mounts.read_text().splitlines():
        mount, _, rest = line.partition(" - ")
        words = mount.split()
        at = Path(_plain(words[4]))
        # a later mount hides an earlier one
        if directory.is_relative_to(at) and (not best or len(at.parts) >= best[0]):
            best = (len(at.parts), words, rest.split())
    if not best:
        raise InputError(f"{str(directory)!r} is under no mount visible here: give a directory on a visible one")
    _, words, (filesystem, source, options) = best
    device = _device(os.fstat(held).st_dev, _plain(source))
    own = dict.fromkeys([*words[5].split(","), *options.split(",")])
    return Storage(filesystem, _plain(source), tuple(own), device, tuple(_disks(device)) if device else ())


def traffic(device: Path) -> Traffic:
    """Return a device's totals (Documentation/block/stat.rst)."""
    values = [int(word) for word in (device / "stat").read_text().split()]
    return Traffic(
        values[_READ_SECTORS] * _SECTOR_BYTES, values[_WRITTEN_SECTORS] * _SECTOR_BYTES, values[_BUSY_MS] * 1_000_000
    )


def _device(own: int, source: str) -> Path | None:
    """Return the device in /sys of the directory's files (`own`), or else of the mount (btrfs)."""
    numbers = [own]
    if source.startswith("/"):
        with suppress(OSError):  # /dev/root, or a device of another mount namespace
            numbers.append(os.stat(source).st_rdev)
    for number in numbers:
        path = NUMBERS / f"{os.major(number)}:{os.minor(number)}"
        if os.major(number) and path.exists():
            return path.resolve()
    return None


def _disks(device: Path) -> list[Path]:
    disk = whole_disk(device)
    below = sorted((disk / "slaves").glob("*"))
    if below:
        return list(dict.fromkeys(found for slave in below for found in _disks(slave.resolve())))
    return [disk] if (disk / "queue" / "scheduler").exists() else []


def _plain(text: str) -> str:
    """Return a path of mountinfo with its octal escapes resolved."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)
