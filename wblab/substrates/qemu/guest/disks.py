"""A guest's disks with the names that ubd would have: in its memory by null_blk, or QEMU's devices.

For null_blk see Documentation/block/null_blk.rst. The names of QEMU's devices are links: the kernel calls a disk sda.
"""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from wblab.core import layout
from wblab.core.drivers import FEWEST_REQUESTS
from wblab.core.errors import WblabError
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import images
from wblab.core.syscalls import MS_NOSUID, mount
from wblab.guest.settings import put
from wblab.substrates.qemu.guest.agreed import FIRST_SLOT

_CONFIG = Path("/sys/kernel/config")
_MIB = 1 << 20
_BY_TIMER = 2  # how a request completes: after completion_nsec


def make_disks(spec: Spec, contents: Path, progress: Callable[[], None]) -> None:
    """Make the disks of a spec with their filesystems, from files in `contents`. Raises WblabError or OSError."""
    mount("configfs", _CONFIG, "configfs")
    for place, (name, disk) in enumerate(images(spec).items()):
        node = layout.disk_device(place)
        _make(node.name, disk, spec.disk_key(name))
        _fill(node, contents / str(place), progress)
        progress()


_BLOCK = Path("/sys/block")
_LONGEST_S, _LOOK_S = 60.0, 0.05  # until a driver has found its disk: an emulated processor is slow


def find_disks(spec: Spec, progress: Callable[[], None]) -> None:
    """Give the disks of a spec, which are QEMU's devices, the names that ubd would have. Raises WblabError."""
    places = range(len(images(spec)))
    until = time.monotonic() + _LONGEST_S
    while len(found := _by_slot()) < len(places):
        if time.monotonic() > until:
            raise WblabError(f"the kernel's driver found {len(found)} of {len(places)} disks: see the console")
        time.sleep(_LOOK_S)
        progress()
    links = {path.name: os.path.realpath(path) for path in _BLOCK.iterdir()}
    mount("tmpfs", _BLOCK, "tmpfs", MS_NOSUID)
    for place in places:
        device, node = found[FIRST_SLOT + place], layout.disk_device(place)
        links[node.name] = str(device)
        node.symlink_to(device.name)
    for name, target in links.items():
        (_BLOCK / name).symlink_to(target)


def _by_slot() -> dict[int, Path]:
    """Return the directories of the disks below /sys that the kernel knows, by their slots of the PCI bus."""
    found = {}
    for path in map(Path, map(os.path.realpath, _BLOCK.iterdir())):
        slots = [part for part in path.parts if part.startswith("0000:00:")]
        if slots and (slot := int(slots[0][8:10], 16)) >= FIRST_SLOT and Path("/dev", path.name).exists():
            found[slot] = path
    return found


# Of a disk's queue, as far as a kernel has it: what a driver sets, and what a distribution does.
_ATTRIBUTES = (
    *("nr_requests", "async_depth", "max_sectors_kb", "max_hw_sectors_kb", "max_segments", "max_segment_size"),
    *("rotational", "wbt_lat_usec", "write_cache", "scheduler"),
)


def queues(spec: Spec) -> dict[str, dict[str, int | str]]:
    """Return the queue of each disk, as the kernel has it now: numbers, and texts."""
    nodes = {name: layout.disk_device(place).name for place, name in enumerate(images(spec))}
    return {name: _queue(Path(os.path.realpath(_BLOCK / node))) for name, node in nodes.items()}


def _queue(directory: Path) -> dict[str, int | str]:
    found: dict[str, int | str] = {"device": directory.name}
    for path in (*(directory / "queue" / name for name in _ATTRIBUTES), directory / "device" / "queue_depth"):
        with suppress(OSError):  # no kernel and no driver has all of them
            text = path.read_text().strip()
            found[path.name] = int(text) if text.isdigit() else text
    with suppress(OSError):
        found["hardware_queues"] = len(os.listdir(directory / "mq"))
    return found


def _make(name: str, disk: Disk, key: str) -> None:
    directory = _CONFIG / "nullb" / name
    directory.mkdir()
    settings = {"memory_backed": 1, "size": -(-disk.size // _MIB), "blocksize": 512, "submit_queues": 1}
    if disk.model == "device":
        settings |= {"mbps": disk.write_bps // _MIB, "hw_queue_depth": disk.depth}
        settings |= {"irqmode": _BY_TIMER, "completion_nsec": disk.latency}
    for file, value in {**settings, "power": 1}.items():
        put(directory / file, value, f"{key}: null_blk's {file}")
    if not disk.is_hardware:  # what it will have is copied from it
        return
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
        other = requests - 1 if requests > FEWEST_REQUESTS else requests + 1
        put(queue / "nr_requests", other, f"{key}.queue.nr_requests")


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
