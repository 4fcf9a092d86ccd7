"""Disks and control groups of a machine."""

import os

from wblab.live.gauge.catalogue import (
    BUSY,
    IN_FLIGHT,
    QUEUE_BYTES,
    QUEUE_REQUESTS,
    QUEUED,
    READ,
    READS,
    WRITES,
    WRITTEN,
)
from wblab.live.gauge.counts import Counts
from wblab.live.gauge.disks import Idleness, count_disks, count_limits
from wblab.live.gauge.groups import Groups

SDA = b"   8       0 sda 10 1 80 40 20 2 160 90 3 1500 2500 0 0 0 0 0 0\n"
PART = b"   8       1 sda1 9 1 72 40 20 2 160 90 0 1500 2500 0 0 0 0 0 0\n"
OTHERS = b"   7       0 loop0 1 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n 253 0 dm-0 1 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"


def test_counters_of_whole_disks_are_exported_in_base_units():
    counts = Counts()
    assert count_disks(counts, OTHERS + SDA + PART) == ("sda",)
    found = {metric: rows[("sda",)] for metric, rows in counts.all().items()}
    assert found == {
        READS: 10,
        READ: 80 * 512,
        WRITES: 20,
        WRITTEN: 160 * 512,
        IN_FLIGHT: 3,
        BUSY: 1.5,
        QUEUED: 2.5,
    }


def test_a_disk_that_was_unplugged_has_no_series_any_more():
    counts = Counts()
    count_disks(counts, SDA + SDA.replace(b"sda", b"sdb"))
    count_disks(counts, SDA)
    assert counts.labels(WRITTEN) == {("sda",)}


def test_the_limits_of_queues_are_exported_where_a_disk_has_one(tmp_path):
    (tmp_path / "sda" / "queue").mkdir(parents=True)
    (tmp_path / "sda" / "queue" / "nr_requests").write_text("64\n")
    (tmp_path / "sda" / "queue" / "max_sectors_kb").write_text("1280\n")
    counts = Counts()
    count_limits(counts, ("sda", "sdb"), tmp_path)
    assert counts.all() == {QUEUE_REQUESTS: {("sda",): 64}, QUEUE_BYTES: {("sda",): 1280 << 10}}


def test_a_control_group_has_the_path_of_its_inode(tmp_path):
    inner = tmp_path / "system.slice" / "db.service"
    inner.mkdir(parents=True)
    groups = Groups(tmp_path)
    number = os.stat(inner).st_ino
    assert groups.path(number) == "/system.slice/db.service"
    inner.rmdir()
    assert groups.path(number) == "/system.slice/db.service"  # it keeps its series
    assert groups.path(1 << 40) == str(1 << 40)


def test_a_disk_is_idle_if_it_had_a_request_in_less_than_half_of_the_time():
    counts = Counts()
    idleness = Idleness(counts)
    for second, busy_ms in ((1, 1500), (2, 1999), (3, 2499), (4, 2998)):
        counts.put(BUSY, busy_ms, "sda")
        idleness.look(second * 10**9)
        assert idleness.is_idle("sda") == (busy_ms != 2499)
    assert not idleness.is_idle("sdb")
