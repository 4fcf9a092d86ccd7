"""Disks in the form that a guest gets."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from wblab.core.spec import Disk
from wblab.core.streams import stream
from wblab.host.disks.disk import made_disk, mkfs_for
from wblab.host.disks.mkfs import format_disk


def streams(seed: int) -> tuple[Random, Random]:
    """Return the random streams that decide the bytes of the first disk of an experiment with this seed."""
    return stream(seed, "filesystem"), stream(seed, "imprint")


@contextmanager
def formatted(disk: Disk, seed: int) -> Iterator[int]:
    """Yield a disk with its filesystem."""
    with made_disk(disk.size) as fd:
        format_disk(mkfs_for(disk, *streams(seed)), fd)
        yield fd
