"""Write requests as metrics: per disk, in the span, without reads."""

import numpy as np
from support.runs import MS

from wblab.analysis.runs.blocks import Submitted
from wblab.analysis.runs.metrics import rows_of

KIB = 1024


def requests(*rows):
    """Return requests: time in ms, disk, size in KiB, and whether it is a write."""
    times, disks, sizes, writes = zip(*rows, strict=True)
    return Submitted(
        ts_ns=np.array(times, np.int64) * MS,
        task=np.array(["flush"] * len(rows)),
        disk=np.array(disks),
        place=np.zeros(len(rows), np.int64),
        size=np.array(sizes, np.int64) * KIB,
        write=np.array(writes, bool),
    )


def test_each_disk_has_its_rate_and_its_mean_size():
    found = requests((0, "slow", 4, True), (500, "fast", 8, True), (900, "fast", 24, True), (950, "fast", 4, False))
    assert rows_of(found, 0, 2000 * MS) == [
        ("slow", "disk", "write_requests_hz", 0.5),
        ("slow", "disk", "mean_write_request_bytes", 4 * KIB),
        ("fast", "disk", "write_requests_hz", 1.0),
        ("fast", "disk", "mean_write_request_bytes", 16 * KIB),
    ]


def test_requests_before_and_after_the_loads_do_not_count():
    found = requests((0, "", 4, True), (100, "", 8, True), (200, "", 4, True))
    assert rows_of(found, 100 * MS, 200 * MS)[0] == ("disk", "disk", "write_requests_hz", 10.0)
    assert not rows_of(found, 300 * MS, 400 * MS)
