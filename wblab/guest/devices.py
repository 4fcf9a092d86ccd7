"""The plan of the disks in the guest, derived from the spec once: devices, parts, and the paths that loads use."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core import layout
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import CRYPT, FILE, LOOP, MAPPED, MIRROR, RAM, SERVED, ZRAM, images, part_of, size_bytes
from wblab.guest.mounts import mounted_number

if TYPE_CHECKING:
    from wblab.guest.served import Server

_DEV = Path("/dev")
# The kernel's names of a model's devices; a number from 0 follows.
_NAMES = {**dict.fromkeys((*MAPPED, CRYPT), "dm-"), MIRROR: "md", LOOP: "loop", RAM: "ram", ZRAM: "zram"}


@dataclass(frozen=True)
class GuestDisk:
    """A disk as the guest has it.

    key: its place in the spec. spec: what stands there. image: the device of the image that the host made for it, if
    the host made one. parts: the disks that it is made of. is_part: whether another disk maps it byte for byte. server:
    of a served filesystem, which has no device: its mount point stands for one.
    """

    name: str
    key: str
    spec: Disk
    device: Path
    image: Path | None
    parts: tuple["GuestDisk", ...]
    size_bytes: int
    is_part: bool
    server: "Server | None" = None

    @property
    def mount_point(self) -> Path:
        """Where its filesystem is mounted, if it has one."""
        return layout.mount_point(self.name)

    @property
    def place(self) -> Path:
        """Where loads use it: its mount point, or its device if it has no filesystem."""
        return self.mount_point if self.spec.has_files else self.device

    @property
    def is_throttled(self) -> bool:
        """Whether a rate limit above the scheduler holds it, or a disk below it, back."""
        return self.spec.model == "throttle" or any(part.is_throttled for part in self.parts)

    @property
    def number(self) -> str:
        """The device's number as in the kernel's files: major:minor. Raises OSError before the device exists."""
        if self.spec.model == FILE:
            return self.parts[0].number
        if self.spec.model == SERVED:
            return mounted_number(self.mount_point)
        number = os.stat(self.device).st_rdev
        return f"{os.major(number)}:{os.minor(number)}"


def guest_disks(spec: Spec) -> dict[str, GuestDisk]:
    """Return the disks by name, in the order of the spec: parts stand before what is made of them."""
    of_images = {name: layout.disk_device(place) for place, name in enumerate(images(spec))}
    numbers: Counter[str] = Counter()
    made: dict[str, GuestDisk] = {}
    for name, disk in spec.disk.items():
        image = of_images.get(name)
        if disk.is_hardware and image:
            device = image
        elif disk.model == FILE:
            device = made[disk.on[0]].mount_point / f"{name}.img"
        elif disk.model == SERVED:
            device = layout.mount_point(name)
        else:
            stem = _NAMES[disk.model]
            device = _DEV / f"{stem}{numbers[stem]}"
            numbers[stem] += 1
        parts, is_part = tuple(made[part] for part in disk.on), bool(part_of(spec, name))
        size, server = size_bytes(spec, name), _server(name, disk) if disk.model == SERVED else None
        made[name] = GuestDisk(name, spec.disk_key(name), disk, device, image, parts, size, is_part, server)
    return made


def _server(name: str, disk: Disk) -> "Server":
    from wblab.guest.served import Server  # imported here, as few runs need it

    return Server(name, disk)


def places(spec: Spec, disks: Mapping[str, GuestDisk]) -> dict[str, Path]:
    """Return the path where each load uses its disk."""
    return {name: disks[spec.disk_of(name)].place for name in spec.load}
