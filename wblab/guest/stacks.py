"""Make the disks that are made of other disks or of memory, without tools of the host."""

import os
from collections.abc import Callable, Iterable, Sequence
from fcntl import ioctl
from pathlib import Path

from wblab.core.diskcheck import BLOCK_BYTES
from wblab.core.errors import WblabError
from wblab.core.loads.files import lay_out
from wblab.core.stacks import CRYPT, LOOP, MAPPED, MIRROR, ZRAM, is_copied
from wblab.core.units import NS_PER_MS, NS_PER_S
from wblab.guest import devicemapper
from wblab.guest.devices import GuestDisk
from wblab.guest.mirror import run_mirror

_LOOP_SET_FD, _LOOP_CLR_FD, _LOOP_SET_DIRECT_IO = 0x4C00, 0x4C01, 0x4C08  # include/uapi/linux/loop.h
_SECTOR = 512
_PIECE = 1 << 20
_UNWRITTEN, _ZERO = b"\xff" * _PIECE, bytes(_PIECE)  # pieces of an image that mkfs has not written, or made a hole
# Keys of dm-crypt's ciphers. XTS has two, which must differ.
_NULL = "cipher_null-ecb"
_KEYS = {_NULL: "-", "aes-xts-plain64": bytes(range(64)).hex()}
_OFF = {
    "both": (),
    "reads": ("no_write_workqueue",),
    "writes": ("no_read_workqueue",),
    "none": ("no_read_workqueue", "no_write_workqueue"),
}


def make_disk(disk: GuestDisk, progress: Callable[[], None]) -> None:
    """Make a disk from its parts, unless the host made it, or a server serves it. Raises WblabError."""
    model = disk.spec.model
    if disk.spec.is_hardware or disk.server:
        return
    try:
        if model in MAPPED or model == CRYPT:
            target = "linear" if model == "flakey" else model  # it turns flakey when the loads start
            devicemapper.create(disk.name, target, disk.size_bytes // _SECTOR, _parameters(disk, target))
        elif model == MIRROR:
            run_mirror(disk.device, [part.device for part in disk.parts], disk.size_bytes)
        elif model == LOOP:
            _attach(disk, disk.parts[0].mount_point / f"{disk.name}.img", progress)
        elif model == ZRAM:
            Path("/sys/block", disk.device.name, "disksize").write_text(str(disk.size_bytes))
        if disk.image and is_copied(disk.spec):
            # Through a cipher, what was never written does not read as zeros.
            is_blank = disk.spec.cipher == _NULL
            _copy(disk.image, disk.device, (_UNWRITTEN, _ZERO) if is_blank else (_UNWRITTEN,))
    except OSError as error:
        raise WblabError(f"cannot make {disk.key}, {model}, in the guest: {error.strerror}") from None


def begin_faults(disks: Iterable[GuestDisk], start_ns: int) -> None:
    """Turn on the faults of disks that have some, at the loads' start (CLOCK_MONOTONIC). Raises WblabError."""
    for disk in disks:
        if disk.server:
            disk.server.begin(start_ns)
        try:
            if disk.spec.model == "flakey":
                sectors = disk.size_bytes // _SECTOR
                devicemapper.change(disk.name, "flakey", sectors, _parameters(disk, "flakey"))
            elif disk.spec.bad:
                for place in disk.spec.bad:
                    devicemapper.message(disk.name, f"addbadblock {place // BLOCK_BYTES}")
                devicemapper.message(disk.name, "enable")
        except OSError as error:
            raise WblabError(f"cannot turn on faults of {disk.key} in the guest: {error.strerror}") from None


def detach(node: Path) -> None:
    """Detach a loop device from its file, so that the filesystem below can be unmounted. Raises OSError."""
    loop = os.open(node, os.O_RDONLY)
    try:
        ioctl(loop, _LOOP_CLR_FD)
    finally:
        os.close(loop)


def _parameters(disk: GuestDisk, target: str) -> str:
    """Return the parameters of a device mapper target: Documentation/admin-guide/device-mapper."""
    spec = disk.spec
    if target == CRYPT:
        off = _OFF[spec.workqueues]
        return " ".join([spec.cipher, _KEYS[spec.cipher], "0", disk.parts[0].number, "0", str(len(off)), *off])
    features = {"all": "0", "reads": "1 error_reads", "writes": "1 error_writes", "drop": "1 drop_writes"}
    own = {
        "linear": "",
        "delay": f" {spec.delay // NS_PER_MS}",
        "flakey": f" {spec.up // NS_PER_S} {spec.down // NS_PER_S} {features[spec.errors]}",
        "dust": f" {BLOCK_BYTES}",
    }
    return f"{disk.parts[0].number} 0{own[target]}"


def _attach(disk: GuestDisk, path: Path, progress: Callable[[], None]) -> None:
    """Make a file, and attach it to a loop device."""
    lay_out(path, disk.size_bytes, progress)
    loop, file = os.open(disk.device, os.O_RDWR), os.open(path, os.O_RDWR)
    try:
        ioctl(loop, _LOOP_SET_FD, file)
        if disk.spec.direct_io:
            ioctl(loop, _LOOP_SET_DIRECT_IO, 1)
    finally:
        os.close(file)
        os.close(loop)


def _copy(image: Path, node: Path, skipped: Sequence[bytes]) -> None:
    """Copy what mkfs wrote from an image to a device, without pieces that are one of these."""
    with image.open("rb", buffering=0) as source, node.open("r+b", buffering=0) as copy:
        at = 0
        while piece := source.read(_PIECE):
            if piece not in (nothing[: len(piece)] for nothing in skipped):
                os.pwrite(copy.fileno(), piece, at)
            at += len(piece)
        os.fsync(copy.fileno())
