"""The disks' devices in the guest."""

import os
from pathlib import Path

from wblab.core import layout
from wblab.core.spec import Spec


def device(spec: Spec, disk: str) -> Path:
    """Return the device of the disk of this name."""
    return layout.disk_device(list(spec.disk).index(disk))


def device_number(node: Path) -> str:
    """Return the number of a device as the kernel's files have it: major:minor."""
    number = os.stat(node).st_rdev
    return f"{os.major(number)}:{os.minor(number)}"
