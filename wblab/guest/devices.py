"""The disks' devices in the guest, and the paths that loads use."""

import os
from pathlib import Path

from wblab.core import layout
from wblab.core.spec import Spec
from wblab.core.stacks import LOOP, MAPPED, MIRROR, RAM, images

_DEV = Path("/dev")
# The kernel's names of a model's devices; a number from 0 follows.
_NAMES = {**dict.fromkeys(MAPPED, "dm-"), MIRROR: "md", LOOP: "loop", RAM: "ram"}


def device(spec: Spec, disk: str) -> Path:
    """Return the device of a disk."""
    if spec.disk[disk].is_hardware:
        return image_device(spec, disk)
    stem = _NAMES[spec.disk[disk].model]
    alike = [name for name, other in spec.disk.items() if _NAMES.get(other.model) == stem]
    return _DEV / f"{stem}{alike.index(disk)}"


def image_device(spec: Spec, disk: str) -> Path:
    """Return the device of the image that the host made for a disk."""
    return layout.disk_device(list(images(spec)).index(disk))


def place(spec: Spec, disk: str) -> Path:
    """Return the path where loads use a disk: its mount point, or its device if it has no filesystem."""
    return device(spec, disk) if spec.disk[disk].filesystem == "none" else layout.mount_point(disk)


def device_number(node: Path) -> str:
    """Return the number of a device as in the kernel's files: major:minor."""
    number = os.stat(node).st_rdev
    return f"{os.major(number)}:{os.minor(number)}"
