"""A disk's queue as a machine has it, and how a guest's disk gets one that holds as long.

The driver decides most of it (`wblab.core.drivers`). What is set otherwise on the machine becomes attributes of the
guest's queue; so does all of a queue whose driver the lab does not know. How large a request may be counts too, not
only the length of the queue: WBT lets so many requests through, of any size.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from wblab.core.drivers import DRIVERS, FEWEST_REQUESTS, MOST_REQUESTS, Driver, Queue, Scheduler
from wblab.core.errors import InputError
from wblab.core.spec import Disk
from wblab.core.tables import from_table

UNKNOWN: Driver = "ubd"  # stands for a driver that the lab does not know: User Mode Linux's has nothing of its own
_LARGE: Mapping[bool, Driver] = {True: "sata", False: "virtio"}  # for larger requests, by whether it has a scheduler
_PAGE_BYTES = 4 << 10  # of a guest
_WBT_US = {"0": 2_000, "1": 75_000}  # the kernel's own target latency, by whether the disk rotates: block/blk-wbt.c
_NUMBER = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, kw_only=True)
class MachineQueue:
    """A disk's queue in /sys: number of requests, largest request, and target latency of WBT (0: off).

    driver: whose it is. rotational, write_cache: as in /sys; empty: unknown.
    """

    requests: int
    request_bytes: int
    wbt_lat_usec: int
    driver: Driver = UNKNOWN
    rotational: Literal["", "0", "1"] = ""
    write_cache: Literal["", "write back", "write through"] = ""

    @property
    def length_bytes(self) -> int:
        """The most that it holds."""
        return self.requests * self.request_bytes


def queue_from(settings: Mapping[str, Any]) -> MachineQueue | None:
    """Return the queue with these settings, named as in /sys (`queue_settings`); None if they do not say its length.

    They may come from another machine's record. Raises InputError for a value that no kernel shows.
    """
    shown = {key: str(value) for key, value in settings.items()}
    if not {"nr_requests", "max_sectors_kb"} <= shown.keys():
        return None
    numbers = {key: shown.get(key, "0") for key in ("nr_requests", "max_sectors_kb", "wbt_lat_usec")}
    for key, text in numbers.items():
        if not _NUMBER.fullmatch(text) or (int(text) == 0 and key != "wbt_lat_usec"):
            raise InputError(f"{key}: {text[:20]!r} is not a number that a queue has")
    table = {
        "requests": int(numbers["nr_requests"]),
        "request_bytes": int(numbers["max_sectors_kb"]) << 10,
        "wbt_lat_usec": int(numbers["wbt_lat_usec"]),
    }
    others = {key: shown[key] for key in ("driver", "rotational", "write_cache") if key in shown}
    return from_table(MachineQueue, table | others, exact=True)


def queue_in(disk: Disk) -> MachineQueue:
    """Return the queue that a spec's disk has. Raises InputError for attributes that are none."""
    own, attributes = _own(disk.driver, disk.elevator), disk.queue_attributes
    settings = {"nr_requests": own.requests, "max_sectors_kb": own.request_bytes >> 10, "driver": disk.driver}
    if str(attributes.get("wbt_lat_usec")) == "-1":
        attributes = attributes | {"wbt_lat_usec": _WBT_US[str(attributes["rotational"])]}
    found = queue_from(settings | attributes)
    assert found is not None
    return found


def guest_driver(queue: MachineQueue, scheduler: str, factor: float = 1.0) -> Driver:
    """Return the driver that a guest's disk gets for a queue: its own.

    For one that the lab does not know it is ubd, or one that takes more or larger requests, if ubd does not.
    """
    ubd = DRIVERS[UNKNOWN]
    has_scheduler = scheduler != "none"
    fits = queue.request_bytes / factor <= ubd.request_bytes and (has_scheduler or queue.requests <= ubd.depth)
    return queue.driver if queue.driver != UNKNOWN or fits else _LARGE[has_scheduler]


def guest_disk(queue: MachineQueue, scheduler: str) -> dict[str, Any]:
    """Return the keys of a spec's disk with such a queue, whose scheduler is its driver's. scheduler: the machine's."""
    driver = guest_driver(queue, scheduler)
    attributes = guest_queue(queue, DRIVERS[driver].scheduler)
    return {"driver": driver} | ({"queue": attributes} if attributes else {})


def guest_queue(queue: MachineQueue, scheduler: Scheduler, factor: float = 1.0) -> dict[str, int | str]:
    """Return the attributes that differ from those that the guest's driver sets: as many, smaller requests.

    factor: by how much the guest's disk is slower. A full queue then takes the same time. If a request would be smaller
    than a page, or larger than the driver's, the number of requests changes instead.
    """
    own, is_known = _own(guest_driver(queue, scheduler, factor), scheduler), queue.driver != UNKNOWN
    requests, request_bytes = _fitting(queue, own, factor)
    found: dict[str, int | str] = {}
    if requests != own.requests:
        found["nr_requests"] = requests
    if request_bytes != _shown(own):
        found["max_sectors_kb"] = request_bytes >> 10
    drivers = str(int(own.rotational))
    if queue.rotational and (queue.rotational != drivers or not is_known):
        found["rotational"] = int(queue.rotational)
    is_default = is_known and queue.wbt_lat_usec == _WBT_US[queue.rotational or drivers]
    if scheduler != "bfq" and not is_default:  # which turns WBT off
        found["wbt_lat_usec"] = queue.wbt_lat_usec
    if queue.write_cache and queue.write_cache != ("write back" if own.flushes else "write through"):
        found["write_cache"] = queue.write_cache
    return found


def length_in_guest(queue: MachineQueue, scheduler: Scheduler, factor: float = 1.0) -> int:
    """Return what the guest's queue with these attributes holds, in bytes. See `guest_queue`."""
    requests, request_bytes = _fitting(queue, _own(guest_driver(queue, scheduler, factor), scheduler), factor)
    return requests * request_bytes


def _fitting(queue: MachineQueue, own: Queue, factor: float) -> tuple[int, int]:
    """Return how many requests of which size in a guest, of this driver, hold as long as a machine's queue."""
    whole_pages = int(queue.request_bytes / factor) // _PAGE_BYTES * _PAGE_BYTES
    largest = _shown(own)
    request_bytes = largest if queue.request_bytes / factor >= largest else max(whole_pages, _PAGE_BYTES)
    requests = min(
        round(queue.length_bytes / factor / request_bytes), own.depth if own.scheduler == "none" else MOST_REQUESTS
    )
    return requests if requests >= FEWEST_REQUESTS else min(own.requests, FEWEST_REQUESTS), request_bytes


def _shown(own: Queue) -> int:
    """Return the largest request in whole KiB, as max_sectors_kb has it: ubd's has 127.5."""
    return own.request_bytes >> 10 << 10


def _own(driver: Driver, scheduler: Scheduler) -> Queue:
    return replace(DRIVERS[driver], scheduler=scheduler)
