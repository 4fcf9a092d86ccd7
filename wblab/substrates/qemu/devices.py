"""QEMU's own devices, on which a kernel's own drivers of disks run.

QEMU throttles them by the host's clock, whatever the guest's is: with time by instructions, 8 MiB at 1 MiB/s took
6,616 s of the guest's (QEMU 7.2). So a kernel with such a driver has the host's clock. A request that is let through is
done at once, and the next ones wait for as long as it would have taken.
"""

import subprocess
from collections.abc import Mapping, Sequence
from functools import cache

from wblab.core.entry import host_path
from wblab.core.errors import InputError
from wblab.core.spec import Disk
from wblab.core.units import format_bytes
from wblab.substrates.qemu.guest.agreed import FIRST_SLOT, MOST_DISKS

# What a disk is, from its controller on: {slot} is the controller's address, {name} the disk's.
_DEVICES: Mapping[str, Sequence[str]] = {
    "usb-storage": ("qemu-xhci,id={name}-usb,addr={slot:#x}", "usb-storage,bus={name}-usb.0,drive={name}"),
    "uas": (
        "qemu-xhci,id={name}-usb,addr={slot:#x}",
        "usb-uas,id={name}-uas,bus={name}-usb.0",
        "scsi-hd,bus={name}-uas.0,drive={name}",
    ),
    "sd": ("sdhci-pci,id={name}-host,addr={slot:#x}", "sd-card,bus=pcie.0/{name}-host/sd-bus,drive={name}"),
    "sata": ("ich9-ahci,id={name}-host,addr={slot:#x}", "ide-hd,bus={name}-host.0,drive={name}"),
    "nvme": ("nvme,serial={name},addr={slot:#x},drive={name}",),
    "virtio": ("virtio-blk-pci,addr={slot:#x},drive={name}",),
}
_LONGEST_S = 10  # until QEMU has listed its devices


def device_arguments(driver: str, disks: Sequence[Disk], descriptors: Sequence[int]) -> list[str]:
    """Return QEMU's arguments for disks by one driver, whose images it inherits."""
    found: list[str] = []
    for place, (disk, descriptor) in enumerate(zip(disks, descriptors, strict=True)):
        about = {"name": f"disk{place}", "slot": FIRST_SLOT + place}
        # The image is in memory and nobody else's: nothing to lock, and nothing to gain from a flush.
        image = f"file={host_path(descriptor)},format=raw,if=none,id={about['name']},cache=unsafe,file.locking=off"
        found += ["-drive", ",".join([image, *_rates(disk)])]
        for device in _DEVICES[driver]:
            found += ["-device", device.format(**about)]
    return found


def _rates(disk: Disk) -> list[str]:
    """Return QEMU's words for a disk's rate. Its bucket holds a burst of so many seconds (util/throttle.c)."""
    if disk.model != "device" or not disk.write_bps:
        return []
    if not disk.burst_bytes:
        return [f"throttling.bps-total={disk.write_bps}"]
    return [
        f"throttling.bps-total={disk.sustained_bps}",
        f"throttling.bps-total-max={disk.write_bps}",
        f"throttling.bps-total-max-length={disk.burst_bytes // disk.write_bps}",
    ]


def check_burst(disk: Disk, key: str, driver: str) -> None:
    """Raise InputError for credits that no disk in QEMU has. key: the disk's in the spec; driver: of its disks."""
    if not disk.burst_bytes:
        return
    name, rate = f"{key}.burst_bytes={format_bytes(disk.burst_bytes)}", format_bytes(disk.write_bps)
    if not driver:
        raise InputError(f"{name}: a disk without its driver cannot have that in QEMU: name one, +sata")
    if not disk.write_bps or disk.burst_bytes % disk.write_bps or disk.burst_bytes < 2 * disk.write_bps:
        raise InputError(f"{name}: in QEMU credits are for 2, 3 or more whole seconds at {rate}/s")


def image_bytes(driver: str, size_bytes: int) -> int:
    """Return how large an image is for a disk of a size: QEMU's SD cards have powers of two."""
    return 1 << (size_bytes - 1).bit_length() if driver == "sd" else -(-size_bytes // 512) * 512


def check_devices(emulator: str, driver: str) -> None:
    """Raise InputError for a driver whose devices this QEMU does not have."""
    there = _listed(emulator)
    needed = [device.partition(",")[0] for device in _DEVICES[driver]]
    if missing := [name for name in needed if f'"{name}"' not in there]:
        raise InputError(f"{emulator} has no device {missing[0]}, which {driver} needs: install one that has it")


def check_number(disks: int) -> None:
    """Raise InputError for more disks than there is room for."""
    if disks > MOST_DISKS:
        raise InputError(f"{disks} disks: with a driver of its own, a kernel in QEMU has at most {MOST_DISKS}")


@cache
def _listed(emulator: str) -> str:
    """Return which devices a QEMU has, as it says it."""
    try:
        done = subprocess.run(
            [emulator, "-device", "help"], capture_output=True, text=True, check=False, timeout=_LONGEST_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{emulator} does not list its devices: {error}") from None
    return done.stdout
