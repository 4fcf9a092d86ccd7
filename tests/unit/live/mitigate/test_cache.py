import pytest

from wblab.live.mitigate.accounting import holds_much, queue_s

MIB = 1 << 20


@pytest.fixture
def queue(tmp_path):
    """The queue of a disk, with 4 requests of 512 KiB: 2 s of work at 1 MiB/s."""
    (place := tmp_path / "sda" / "queue").mkdir(parents=True)
    for name, value in (("nr_requests", "4"), ("max_sectors_kb", "512"), ("write_cache", "write back")):
        (place / name).write_text(f"{value}\n")
    return place


@pytest.mark.parametrize(
    ("flush_s", "bandwidth", "told"),
    [
        (8.0, MIB, True),
        (2.1, MIB, False),  # no longer than the queue can take
        (0.0, MIB, False),  # no flushes
        (0.4, 100 * MIB, False),  # much longer than the queue, but still short
        (0.6, 100 * MIB, True),
    ],
)
def test_a_write_cache_is_detected_by_long_flushes(queue, flush_s, bandwidth, told):
    assert queue_s("sda", MIB, queue.parents[1]) == 2.0
    assert holds_much("sda", flush_s, bandwidth, queue.parents[1]) == told


def test_a_long_queue_explains_long_flushes(queue):
    (queue / "nr_requests").write_text("32\n")
    assert not holds_much("sda", 16.0, MIB, queue.parents[1])


def test_a_disk_without_flushes_has_no_known_cache(queue):
    (queue / "write_cache").write_text("write through\n")
    assert not holds_much("sda", 8.0, MIB, queue.parents[1])


def test_a_removed_disk_has_no_known_cache(queue):
    assert not holds_much("sdb", 8.0, MIB, queue.parents[1])
