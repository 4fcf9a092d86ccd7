"""A disk under test, as the host makes it: a file in RAM, and what makes its filesystem."""

import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from random import Random

from wblab.core.errors import WblabError
from wblab.core.spec import DISK, Disk, Spec
from wblab.core.stacks import images, is_copied, size_bytes, top
from wblab.core.streams import stream
from wblab.core.units import Bytes
from wblab.host.disks.mkfs import DISK_PATH, Mkfs
from wblab.host.disks.reproducible import CHANCE_BYTES, TIME_S
from wblab.lab.packages import tool_path

# What is not written, nor to be written later, is a hole where the disk may have holes.
_EXT_BLOCK = "4096"  # bytes: of people's disks; mke2fs gives those below 512 MiB blocks of 1 KiB
_EXT_OPTIONS = "lazy_itable_init={lazy},lazy_journal_init={lazy},nodiscard,hash_seed={seed}"
_FAT32, _LEAST_FAT32 = ("-F", "32"), 40 << 20  # as sticks are sold; FAT16 has room for 512 files in its root
_CHUNK = b"\xff" * (1 << 20)


def mkfs_tool(disk: Disk) -> str:
    """Return the name of the program that makes the disk's filesystem, which it must have."""
    return "mke2fs" if disk.filesystem.startswith("ext") else f"mkfs.{disk.filesystem}"


@contextmanager
def made_disk(size_bytes: int, *, filled: bool = False) -> Iterator[int]:
    """Yield a file descriptor of a disk without a filesystem. Raises WblabError.

    The file is a memfd: tmpfs without a name, so that it is gone with the last process that uses it. It is a hole until
    format_disk (mkfs.py) has made the filesystem. filled: with 0xFF, which a guest that copies it tells from what mkfs
    has written.
    """
    fd = os.memfd_create("wblab-disk")
    try:
        _make(fd, size_bytes, filled)
        yield fd
    finally:
        os.close(fd)


@contextmanager
def made_disks(disks: Iterable[Disk]) -> Iterator[list[int]]:
    """Yield file descriptors of several of them."""
    with ExitStack() as stack:
        yield [stack.enter_context(made_disk(disk.size, filled=is_copied(disk))) for disk in disks]


def mkfs_of(spec: Spec) -> list[Mkfs]:
    """Return what makes the filesystem of each image, with a part of its own of the seed's randomness.

    An image that is a part of another disk gets that one's filesystem, and those of a mirror the same, byte for byte.
    """
    bits, chance = stream(spec.seed, "filesystem"), stream(spec.seed, "imprint")
    made: dict[str, Mkfs] = {}
    for name in dict.fromkeys(top(spec, image) for image in images(spec)):
        disk = replace(spec.disk[name], size=Bytes(size_bytes(spec, name)))
        raw = not disk.has_files
        made[name] = (
            Mkfs((), disk.size, resident_bytes=disk.resident)
            if raw
            else mkfs_for(disk, bits, chance, spec.disk_key(name))
        )
    return [made[top(spec, image)] for image in images(spec)]


def mkfs_for(disk: Disk, bits: Random, chance: Random, key: str = DISK) -> Mkfs:
    """Return what makes the filesystem, with randomness of two streams alone. `key` is where its spec has the disk."""
    own = chance.randbytes(CHANCE_BYTES).hex()
    return Mkfs(_command(disk, bits), disk.size, disk.filesystem, own, key, disk.resident)


def _command(disk: Disk, bits: Random) -> list[str]:
    volume, hashes = (uuid.UUID(int=bits.getrandbits(128), version=4) for _ in range(2))
    tool = tool_path(mkfs_tool(disk)) or mkfs_tool(disk)
    own = {
        "xfs": ("-q", "-f", "-K", "-m", f"uuid={volume}"),
        "btrfs": ("-q", "-f", "-K", "-U", str(volume)),
        "f2fs": ("-q", "-f", "-t", "0", "-r", "-T", str(TIME_S), "-U", str(volume)),
        "vfat": ("--invariant", "-i", f"{hashes.int & 0xFFFFFFFF:08x}", *(_FAT32 if disk.size >= _LEAST_FAT32 else ())),
        "exfat": (),
    }
    extended = _EXT_OPTIONS.format(seed=hashes, lazy=int(disk.resident > 0))
    ext = ("-q", "-F", "-b", _EXT_BLOCK, "-t", disk.filesystem, "-U", str(volume), "-E", extended)
    return [tool, *own.get(disk.filesystem, ext), *disk.mkfs_options, DISK_PATH]


def _make(fd: int, size: int, filled: bool) -> None:
    try:
        os.ftruncate(fd, size)
        for offset in range(0, size if filled else 0, len(_CHUNK)):
            os.pwrite(fd, _CHUNK[: size - offset], offset)
    except OSError as error:
        raise WblabError(f"cannot make the disk in memory: {error.strerror}") from None
