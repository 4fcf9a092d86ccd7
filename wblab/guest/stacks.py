"""Make the disks that are made of other disks or of memory, without tools of the host."""

import os
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path

from wblab.core import layout
from wblab.core.errors import WblabError
from wblab.core.loads.files import lay_out
from wblab.core.spec import Disk, Spec
from wblab.core.stackcheck import BLOCK_BYTES
from wblab.core.stacks import LOOP, MAPPED, MIRROR, is_copied, size_bytes
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.guest import devicemapper
from wblab.guest.devices import device, device_number, image_device
from wblab.guest.mirror import run_mirror

_LOOP_SET_FD, _LOOP_CLR_FD = 0x4C00, 0x4C01  # include/uapi/linux/loop.h
_SECTOR = 512
_PIECE = 1 << 20
_UNWRITTEN = (bytes(_PIECE), b"\xff" * _PIECE)  # unwritten pieces of an image; mkfs punches holes


def make_disk(spec: Spec, name: str, progress: Callable[[], None]) -> None:
    """Make a disk from its parts, unless the host made it. Raises WblabError."""
    disk = spec.disk[name]
    if disk.is_hardware:
        return
    node, size = device(spec, name), size_bytes(spec, name)
    parts = [device(spec, part) for part in disk.on]
    try:
        if disk.model in MAPPED:
            target = "linear" if disk.model == "flakey" else disk.model  # it turns flakey when the loads start
            devicemapper.create(name, target, size // _SECTOR, _parameters(disk, target, parts[0]))
        elif disk.model == MIRROR:
            run_mirror(node, parts, size)
        elif disk.model == LOOP:
            _attach(node, layout.mount_point(disk.on[0]) / f"{name}.img", size, progress)
        if is_copied(disk):
            _copy(image_device(spec, name), node)
    except OSError as error:
        raise WblabError(f"cannot make {spec.disk_key(name)}, {disk.model}, in the guest: {error.strerror}") from None


def begin_faults(spec: Spec) -> None:
    """Turn on the faults of disks that have some. Raises WblabError."""
    for name, disk in spec.disk.items():
        try:
            if disk.model == "flakey":
                node, sectors = device(spec, disk.on[0]), size_bytes(spec, name) // _SECTOR
                devicemapper.change(name, "flakey", sectors, _parameters(disk, "flakey", node))
            elif disk.bad:
                for place in disk.bad:
                    devicemapper.message(name, f"addbadblock {place // BLOCK_BYTES}")
                devicemapper.message(name, "enable")
        except OSError as error:
            raise WblabError(f"cannot turn on faults of {spec.disk_key(name)} in the guest: {error.strerror}") from None


def detach(node: Path) -> None:
    """Detach a loop device from its file, so that the filesystem below can be unmounted. Raises OSError."""
    loop = os.open(node, os.O_RDONLY)
    try:
        ioctl(loop, _LOOP_CLR_FD)
    finally:
        os.close(loop)


def _parameters(disk: Disk, target: str, below: Path) -> str:
    """Return the parameters of a device mapper target: Documentation/admin-guide/device-mapper."""
    features = {"all": "0", "reads": "1 error_reads", "writes": "1 error_writes", "drop": "1 drop_writes"}
    own = {
        "linear": "",
        "delay": f" {disk.delay // NS_PER_MS}",
        "flakey": f" {disk.up // NS_PER_S} {disk.down // NS_PER_S} {features[disk.errors]}",
        "dust": f" {BLOCK_BYTES}",
    }
    return f"{device_number(below)} 0{own[target]}"


def _attach(node: Path, path: Path, size: int, progress: Callable[[], None]) -> None:
    """Make a file, and attach it to a loop device."""
    lay_out(path, size, progress)
    loop, file = os.open(node, os.O_RDWR), os.open(path, os.O_RDWR)
    try:
        ioctl(loop, _LOOP_SET_FD, file)
    finally:
        os.close(file)
        os.close(loop)


def _copy(image: Path, node: Path) -> None:
    """Copy what mkfs wrote from an image to a device."""
    with image.open("rb", buffering=0) as source, node.open("r+b", buffering=0) as copy:
        at = 0
        while piece := source.read(_PIECE):
            if piece not in (nothing[: len(piece)] for nothing in _UNWRITTEN):
                os.pwrite(copy.fileno(), piece, at)
            at += len(piece)
        os.fsync(copy.fileno())
