"""A spec as a stock kernel in QEMU gets it: what differs from User Mode Linux there is changed here, in the open.

The disks' data lies in the guest's memory (null_blk), so the guest gets that much more, and limits in per cent, which
are shares of the memory, become limits in bytes.
"""

import re
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
_FEWEST, _MOST = 4, 2048  # BLKDEV_MIN_RQ, MAX_SCHED_RQ: what nr_requests may be
_LEAST_PAGES = 2  # dirty_bytes_min in mm/page-writeback.c
_OURS = ("max_sectors_kb", "nr_requests")  # attributes of the queue that are translated
# Of a disk's model: null_blk has nothing of it.
_LACKING = ("read_bps", "seek_time", "stall_every", "cache_bytes", "used", "resident")


def in_bytes(spec: Spec) -> Spec:
    """Return a spec with its dirty limits in bytes: the same shares of its memory, in whole pages."""
    sysctl = {key: value for key, value in spec.sysctl.items() if key not in _LIMITS}
    for ratio, (limit, default) in _LIMITS.items():
        if not sysctl.get(limit):  # 0 is the kernel's word for none
            pages = spec.memory * int(spec.sysctl.get(ratio, default)) // 100 // PAGE_BYTES
            sysctl[limit] = max(_LEAST_PAGES, pages) * PAGE_BYTES
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
    if programs := [f"agent.{name}" for name in spec.agent] + [
        f"load.{name}" for name, load in spec.load.items() if load.needs_lab
    ]:
        raise InputError(f"{programs[0]}: a stock kernel in QEMU cannot run programs of this machine: leave it out")
    if spec.kernel.parameters or spec.kernel.config:
        raise InputError("kernel.parameters and kernel.config are for kernels of User Mode Linux: leave them out")
    if untried := [f"cgroup.{name}" for name in spec.cgroup] + [f"phase.{name}" for name in spec.phase]:
        raise InputError(f"{untried[0]}: it was never tried on a stock kernel in QEMU: leave it out")
    for name, disk in spec.disk.items():
        key = spec.disk_key(name)
        if not disk.is_hardware:
            raise InputError(f"{key}.model={disk.model}: in QEMU a disk is 'throttle' or 'device'")
        if lacking := [field for field in _LACKING if getattr(disk, field)] + ["layout"] * disk.is_aged:
            raise InputError(f"{key}.{lacking[0]}: a disk in QEMU cannot have that: leave it out")
        for attribute in _OURS:
            if not re.fullmatch("[1-9][0-9]{0,8}", str(disk.queue.get(attribute, 1))):
                raise InputError(f"{key}.queue.{attribute}={disk.queue[attribute]}: write a number, such as 64")
        if disk.model == "device" and (disk.write_bps % MIB or not disk.write_bps):
            rate = format_bytes(disk.write_bps)
            raise InputError(f"{key}.write_bps={rate}/s: in QEMU a rate is in whole MiB/s, such as 1MiB/s")


def largest_request_bytes(disk: Disk) -> int:
    """Return the largest request of a disk, in whole pages: a larger one than its portion would never be served."""
    portion = disk.write_bps // _PORTIONS if disk.model == "device" else UBD_REQUEST_BYTES
    return max(PAGE_BYTES, min(portion, UBD_REQUEST_BYTES) // PAGE_BYTES * PAGE_BYTES)


def _disk(disk: Disk) -> Disk:
    """Return a disk whose queue holds as many bytes as it would in User Mode Linux, in requests that it can serve.

    Without a scheduler the queue is the device's own, which cannot be longer.
    """
    asked = min(UBD_REQUEST_BYTES, int(disk.queue.get("max_sectors_kb", UBD_REQUEST_BYTES)) << 10)
    largest = min(largest_request_bytes(disk), asked)
    requests = int(disk.queue.get("nr_requests", UBD_REQUESTS))
    own = {"max_sectors_kb": largest >> 10}
    if disk.scheduler != "none":
        own["nr_requests"] = min(max(_FEWEST, requests * asked // largest), _MOST)
    return replace(disk, queue={**disk.queue, **own})
