"""The queue of a machine's disk, and of a guest's that holds as long."""

import pytest

from wblab.core.check import check_spec
from wblab.core.drivers import DRIVERS
from wblab.core.errors import InputError
from wblab.core.spec import Disk, Spec
from wblab.core.tables import from_table
from wblab.live.disks.queue import (
    MachineQueue,
    guest_disk,
    guest_driver,
    guest_queue,
    length_in_guest,
    queue_from,
    queue_in,
)

MIB = 1 << 20
SATA = {"nr_requests": "64", "max_sectors_kb": "4096", "wbt_lat_usec": "75000", "driver": "sata", "rotational": "1"}


def test_a_queue_is_read_as_it_is_shown():
    assert queue_from(SATA) == MachineQueue(
        requests=64, request_bytes=4 * MIB, wbt_lat_usec=75_000, driver="sata", rotational="1"
    )
    assert queue_from({"nr_requests": "2", "max_sectors_kb": "120"}) == MachineQueue(
        requests=2, request_bytes=120 << 10, wbt_lat_usec=0
    )
    assert queue_from({"max_sectors_kb": "124", "rotational": "0"}) is None  # zram's has no length


@pytest.mark.parametrize(
    "changed",
    [
        {"nr_requests": "many"},
        {"nr_requests": "0"},
        {"max_sectors_kb": "-1"},
        {"max_sectors_kb": "9" * 30},
        {"wbt_lat_usec": None},
        {"driver": "evil"},
        {"rotational": "2"},
        {"write_cache": ["write back"]},
    ],
)
def test_a_record_with_what_no_kernel_shows_is_refused(changed):
    with pytest.raises(InputError):
        queue_from(SATA | changed)


@pytest.mark.parametrize(
    ("requests", "kib", "scheduler", "factor", "found"),
    [
        (256, 1280, "mq-deadline", 32.0, {"nr_requests": 256, "max_sectors_kb": 40}),  # as many, each smaller
        (256, 4096, "mq-deadline", 32.0, {"nr_requests": 256, "max_sectors_kb": 128}),  # ubd has no such: sata
        (256, 8192, "mq-deadline", 1.0, {"nr_requests": 512}),  # nor has sata
        (256, 128, "mq-deadline", 64.0, {"max_sectors_kb": 4}),  # none is smaller than a page: 128 of them
        (4, 128, "mq-deadline", 64.0, {"nr_requests": 4, "max_sectors_kb": 4}),  # nor are there fewer
        (1023, 1280, "none", 32.0, {"max_sectors_kb": 40}),  # without a scheduler it is as deep as virtio: 256
    ],
)
def test_a_queue_of_an_unknown_driver_holds_the_same_time(requests, kib, scheduler, factor, found):
    queue = MachineQueue(requests=requests, request_bytes=kib << 10, wbt_lat_usec=75_000)
    assert guest_queue(queue, scheduler, factor) == found | {"wbt_lat_usec": 75_000}


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_guest_s_queue_of_a_known_driver_needs_no_attributes(driver):
    queue, scheduler = queue_in(Disk(driver=driver)), DRIVERS[driver].scheduler
    assert guest_queue(queue, scheduler) == ({"wbt_lat_usec": 0} if driver == "ubd" else {})
    assert length_in_guest(queue, scheduler) == queue.length_bytes
    for factor in (3.0, 50.0, 1000.0):
        disk = {"size": 64 * MIB, "model": "device", "write_bps": MIB, "driver": driver}
        disk["queue"] = guest_queue(queue, scheduler, factor)
        load = {"l1": {"kind": "load", "file": "l1", "size": MIB, "block": 4096, "wait": "1s"}}
        check_spec(from_table(Spec, {"name": "x", "memory": 64 * MIB, "disk": disk, "load": load}))


@pytest.mark.parametrize(
    ("requests", "kib", "scheduler", "factor", "driver"),
    [
        (128, 127, "mq-deadline", 1.0, "ubd"),
        (128, 1280, "mq-deadline", 1.0, "sata"),
        (128, 1280, "mq-deadline", 11.0, "ubd"),
        (128, 1280, "none", 11.0, "virtio"),
        (64, 64, "none", 1.0, "ubd"),
    ],
)
def test_an_unknown_driver_is_ubd_where_that_has_such_requests(requests, kib, scheduler, factor, driver):
    queue = MachineQueue(requests=requests, request_bytes=kib << 10, wbt_lat_usec=0)
    assert guest_driver(queue, scheduler, factor) == driver


def test_what_a_machine_has_set_otherwise_is_set_in_the_guest():
    queue = queue_from(SATA | {"nr_requests": "32", "wbt_lat_usec": "0", "write_cache": "write through"})
    assert queue
    assert guest_queue(queue, "mq-deadline") == {
        "nr_requests": 32,
        "rotational": 1,
        "wbt_lat_usec": 0,
        "write_cache": "write through",
    }
    assert "wbt_lat_usec" not in guest_queue(queue, "bfq")  # which turns WBT off
    uas = queue_from({"nr_requests": "60", "max_sectors_kb": "512", "wbt_lat_usec": "75000", "driver": "uas"})
    assert uas
    assert guest_disk(uas, "bfq") == {"driver": "uas", "queue": {"nr_requests": 60}}
