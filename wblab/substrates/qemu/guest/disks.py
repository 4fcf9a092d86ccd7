"""Disks in the kernel's memory, by null_blk (Documentation/block/null_blk.rst), with the names that ubd would have."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from wblab.core import layout
from wblab.core.errors import WblabError
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import images
from wblab.core.syscalls import mount
from wblab.guest.settings import put

_CONFIG = Path("/sys/kernel/config")
_MIB = 1 << 20
_FEWEST = 4  # BLKDEV_MIN_RQ
_BY_TIMER = 2  # how a request completes: after completion_nsec


def make_disks(spec: Spec, contents: Path, progress: Callable[[], None]) -> None:
    """Make the disks of a spec with their filesystems, from files in `contents`. Raises WblabError or OSError."""
    mount("configfs", _CONFIG, "configfs")
    for place, (name, disk) in enumerate(images(spec).items()):
        node = layout.disk_device(place)
        _make(node.name, disk, spec.disk_key(name))
        _fill(node, contents / str(place), progress)
        progress()


def _make(name: str, disk: Disk, key: str) -> None:
    directory = _CONFIG / "nullb" / name
    directory.mkdir()
    settings = {"memory_backed": 1, "size": -(-disk.size // _MIB), "blocksize": 512, "submit_queues": 1}
    if disk.model == "device":
        settings |= {"mbps": disk.write_bps // _MIB, "hw_queue_depth": disk.depth}
        settings |= {"irqmode": _BY_TIMER, "completion_nsec": disk.latency}
    for file, value in {**settings, "power": 1}.items():
        put(directory / file, value, f"{key}: null_blk's {file}")
    queue = Path("/sys/block", name, "queue")
    # Now, as a larger request would never be served.
    largest = "max_sectors_kb"
    put(queue / largest, disk.queue[largest], f"{key}.queue.{largest}")
    # Up to Linux 6.12, mq-deadline bounds writes by what nr_requests was before its last change, here at first 2. Later
    # kernels, which have the bound as an attribute, need no second change.
    asked = "nr_requests" in disk.queue and disk.elevator != "none"
    if asked and not (queue / "async_depth").exists():
        requests = int(disk.queue["nr_requests"])
        put(queue / "scheduler", disk.elevator, f"{key}.scheduler")
        put(queue / "nr_requests", requests - 1 if requests > _FEWEST else requests + 1, f"{key}.queue.nr_requests")


def _fill(node: Path, content: Path, progress: Callable[[], None]) -> None:
    """Write the pieces of an image: an index of offsets and lengths in its first line, then the bytes."""
    with content.open("rb") as source, node.open("r+b", buffering=0) as disk:
        for offset, length in json.loads(source.readline()):
            data = source.read(length)
            if len(data) != length:
                raise WblabError(f"the image of {node.name} is cut off")
            os.pwrite(disk.fileno(), data, offset)
            progress()
        os.fsync(disk.fileno())
