"""A disk under test, as the host makes it: a file in RAM, filled with 0xFF, and what makes its filesystem."""

import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from random import Random

from wblab.core.errors import WblabError
from wblab.core.spec import DISK, Disk, Spec
from wblab.core.streams import stream
from wblab.host.mkfs import DISK as PATH
from wblab.host.mkfs import Mkfs
from wblab.lab.tools import tool_path

_EXT_OPTIONS = "lazy_itable_init=0,lazy_journal_init=0,nodiscard,hash_seed={seed}"
_CHUNK = b"\xff" * (1 << 20)


def mkfs_tool(disk: Disk) -> str:
    """Return the name of the program that makes the disk's filesystem."""
    return "mkfs.xfs" if disk.filesystem == "xfs" else "mke2fs"


@contextmanager
def made_disk(size_bytes: int) -> Iterator[int]:
    """Yield a file descriptor of a disk without a filesystem. Raises WblabError.

    The file is a memfd: tmpfs without a name, so that it is gone with the last process that uses it.
    """
    fd = os.memfd_create("wblab-disk")
    try:
        _fill(fd, size_bytes)
        yield fd
    finally:
        os.close(fd)


@contextmanager
def made_disks(disks: Iterable[Disk]) -> Iterator[list[int]]:
    """Yield file descriptors of several of them."""
    with ExitStack() as stack:
        yield [stack.enter_context(made_disk(disk.size)) for disk in disks]


def mkfs_of(spec: Spec) -> list[Mkfs]:
    """Return what makes the filesystems of a spec's disks, each with a part of its own of the seed's randomness."""
    bits = stream(spec.seed, "filesystem")
    return [mkfs_for(disk, bits, spec.disk_key(name)) for name, disk in spec.disk.items()]


def mkfs_for(disk: Disk, bits: Random, key: str = DISK) -> Mkfs:
    """Return what makes the filesystem; all its randomness comes from `bits`. `key` is where its spec has the disk."""
    return Mkfs(_command(disk, bits), disk.size, key)


def _command(disk: Disk, bits: Random) -> list[str]:
    volume, hashes = (uuid.UUID(int=bits.getrandbits(128), version=4) for _ in range(2))
    tool = tool_path(mkfs_tool(disk)) or mkfs_tool(disk)
    if disk.filesystem == "xfs":
        return [tool, "-q", "-f", "-K", "-m", f"uuid={volume}", *disk.mkfs_options, PATH]
    extended = _EXT_OPTIONS.format(seed=hashes)
    return [tool, "-q", "-F", "-t", disk.filesystem, "-U", str(volume), "-E", extended, *disk.mkfs_options, PATH]


def _fill(fd: int, size: int) -> None:
    """Fill the file with 0xFF: every page of it exists before the run, none is allocated during it."""
    try:
        for offset in range(0, size, len(_CHUNK)):
            os.pwrite(fd, _CHUNK[: size - offset], offset)
    except OSError as error:
        raise WblabError(f"cannot make the disk in memory: {error.strerror}") from None
