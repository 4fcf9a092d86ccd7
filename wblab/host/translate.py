"""A spec as a stock kernel in QEMU gets it: what differs from User Mode Linux there is changed here, in the open.

The disks' data lies in the guest's memory (null_blk), so the guest gets that much more, and limits in per cent, which
are shares of the memory, become limits in bytes.
"""

from dataclasses import replace

from wblab.core.errors import InputError
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import images
from wblab.core.units import Bytes, format_bytes

MIB = 1 << 20
PAGE_BYTES = 4096
UBD_REQUEST_BYTES, UBD_REQUESTS = 255 * 512, 128  # of a disk of User Mode Linux: largest request, queue
_PORTIONS = 50  # a second: null_blk hands out its rate in portions (TICKS_PER_SEC in drivers/block/null_blk)
# Shares of the memory in per cent, the limits in bytes that take their place, and the kernel's defaults.
_LIMITS = {
    "vm.dirty_background_ratio": ("vm.dirty_background_bytes", 10),
    "vm.dirty_ratio": ("vm.dirty_bytes", 20),
}
# Of a disk's model: null_blk has nothing of it.
_LACKING = ("read_bps", "seek_time", "stall_every", "cache_bytes", "used", "resident")


def in_bytes(spec: Spec) -> Spec:
    """Return a spec with its dirty limits in bytes: the same shares of its memory, in whole pages."""
    sysctl = {key: value for key, value in spec.sysctl.items() if key not in _LIMITS}
    for ratio, (limit, default) in _LIMITS.items():
        if limit not in sysctl:
            share = int(spec.sysctl.get(ratio, default))
            sysctl[limit] = spec.memory * share // 100 // PAGE_BYTES * PAGE_BYTES
    return replace(spec, sysctl=sysctl)


def translated(spec: Spec) -> Spec:
    """Return the spec as a stock kernel gets it. Raises InputError for a spec that cannot run there."""
    check(spec)
    disks = {name: _disk(disk) for name, disk in spec.disk.items()}
    stored = sum(disk.size for disk in images(spec).values())
    return replace(
        in_bytes(spec),
        memory=Bytes(spec.memory + stored),
        disk=disks,
    )


def check(spec: Spec) -> None:
    """Raise InputError for a spec that a stock kernel in QEMU cannot run, naming the key."""
    if spec.needs_lab:
        raise InputError("this spec runs programs of the lab in its guest, which a stock kernel in QEMU cannot")
    if spec.kernel.parameters or spec.kernel.config:
        raise InputError("kernel.parameters and kernel.config are for kernels of User Mode Linux: leave them out")
    if spec.cgroup or spec.phase:
        raise InputError("control groups and phases were never tried on a stock kernel in QEMU: leave them out")
    for name, disk in spec.disk.items():
        key = spec.disk_key(name)
        if not disk.is_hardware:
            raise InputError(f"{key}.model={disk.model}: in QEMU a disk is 'throttle' or 'device'")
        if lacking := [field for field in _LACKING if getattr(disk, field)] + ["layout"] * disk.is_aged:
            raise InputError(f"{key}.{lacking[0]}: a disk in QEMU cannot have that: leave it out")
        if disk.model == "device" and (disk.write_bps % MIB or not disk.write_bps):
            rate = format_bytes(disk.write_bps)
            raise InputError(f"{key}.write_bps={rate}/s: in QEMU a rate is in whole MiB/s, such as 1MiB/s")


def largest_request_bytes(disk: Disk) -> int:
    """Return the largest request of a disk, in whole pages: a larger one than its portion would never be served."""
    portion = disk.write_bps // _PORTIONS if disk.model == "device" else UBD_REQUEST_BYTES
    wanted = int(disk.queue.get("max_sectors_kb", 0)) << 10 or UBD_REQUEST_BYTES
    return max(PAGE_BYTES, min(portion, wanted) // PAGE_BYTES * PAGE_BYTES)


def _disk(disk: Disk) -> Disk:
    """Return a disk whose queue holds as many bytes as it would in User Mode Linux, in requests that it can serve."""
    largest = largest_request_bytes(disk)
    requests = int(disk.queue.get("nr_requests", UBD_REQUESTS))
    there = min(UBD_REQUEST_BYTES, int(disk.queue.get("max_sectors_kb", UBD_REQUEST_BYTES)) << 10)
    own = {"max_sectors_kb": largest >> 10, "nr_requests": max(4, requests * there // largest)}
    return replace(disk, queue={**disk.queue, **own})
