"""Drivers of disks: the queue that each gives to a disk.

What a driver takes at once is no longer dirty but under writeback. So with one and the same disk, the driver decides
which limit programs meet, and how long what comes behind a full queue waits. Figures are those of Linux 7.2 with QEMU's
own devices, read in /sys/block; the constant beside each is where the driver has it from.
"""

from dataclasses import dataclass
from typing import Literal

Driver = Literal["ubd", "usb-storage", "uas", "sd", "sata", "nvme", "virtio"]
Scheduler = Literal["none", "mq-deadline", "kyber", "bfq"]

SECTOR_BYTES = 512
FEWEST_REQUESTS = 4  # BLKDEV_MIN_RQ in block/blk.h: what nr_requests may be, unless the driver has fewer
MOST_REQUESTS = 2048  # MAX_SCHED_RQ there: the most with a scheduler
COUNTED_BYTES = 256 << 10  # UBD_COUNTED_BYTES: a request of more counts as several where they are limited
_MOST_TAGS = 128  # BLKDEV_DEFAULT_RQ: a scheduler has twice as many requests as the driver takes, or twice this
_MOST_SECTORS = 8192  # BLK_DEF_MAX_SECTORS_CAP: 4 MiB; 2560 up to Linux 6.12


@dataclass(frozen=True, kw_only=True)
class Queue:
    """A driver's queue.

    depth: how many requests it takes at once. max_hw_sectors, max_segments: how large one may be, in sectors of 512
    bytes, and in how many segments. scheduler: the kernel's default on a machine with several processors.
    flushes: whether the disk says that it has a volatile write cache, so that an fsync sends it a flush.
    rotational: whether a disk counts as rotating that does not say what it is.
    """

    depth: int
    max_hw_sectors: int
    max_segments: int
    scheduler: Scheduler = "mq-deadline"
    flushes: bool = True
    rotational: bool = False

    @property
    def requests(self) -> int:
        """How many requests it holds with the default scheduler: nr_requests."""
        return self.depth if self.scheduler == "none" else 2 * min(self.depth, _MOST_TAGS)

    @property
    def request_bytes(self) -> int:
        """The largest request, if its data lie together in memory."""
        return min(self.max_hw_sectors, _MOST_SECTORS) * SECTOR_BYTES


DRIVERS: dict[Driver, Queue] = {
    # arch/um/drivers/ubd_kern.c: UBD_QUEUE_DEPTH, and 255 sectors as it names no limit. What the lab always had.
    "ubd": Queue(depth=64, max_hw_sectors=255, max_segments=64),
    # drivers/usb/storage/scsiglue.c: can_queue 1; 2048 sectors on USB 3 (240 on USB 2). sd.c: "Assuming drive cache:
    # write through" of a stick that does not say.
    "usb-storage": Queue(depth=1, max_hw_sectors=2048, max_segments=2048, rotational=True, flushes=False),
    # drivers/usb/storage/uas.c: two less than the streams of device and controller, here 16; 30 with 32.
    "uas": Queue(depth=14, max_hw_sectors=1024, max_segments=2048, rotational=True),
    # drivers/mmc/core/queue.c: MMC_QUEUE_DEPTH; drivers/mmc/host/sdhci.c: SDHCI_MAX_SEGS, 512 KiB a request.
    "sd": Queue(depth=64, max_hw_sectors=1024, max_segments=128, flushes=False),
    # drivers/ata: NCQ's 32 commands, ATA_MAX_SECTORS_LBA48, AHCI_MAX_SG.
    "sata": Queue(depth=32, max_hw_sectors=65534, max_segments=168),
    # drivers/nvme/host/pci.c: io_queue_depth; 512 KiB by a device's MDTS. A queue for each processor: no scheduler.
    "nvme": Queue(depth=1023, max_hw_sectors=1024, max_segments=129, scheduler="none"),
    # QEMU's virtio-blk-pci: queue-size 256, and segments two less. A queue for each processor, so no scheduler.
    "virtio": Queue(depth=256, max_hw_sectors=65534, max_segments=254, scheduler="none", rotational=True),
}

SHORT_BYTES = 512 << 10  # of a queue that keeps waits behind it short: four of ubd's requests


def short_queue(driver: Driver) -> dict[str, int]:
    """Return the attributes of a queue with which it holds `SHORT_BYTES`, whatever the driver's requests are."""
    queue = DRIVERS[driver]
    requests = min(queue.requests, FEWEST_REQUESTS)
    fewer = {"nr_requests": requests} if requests < queue.requests else {}
    smaller = {"max_sectors_kb": SHORT_BYTES // requests >> 10}
    return fewer | (smaller if requests * queue.request_bytes > SHORT_BYTES else {})
