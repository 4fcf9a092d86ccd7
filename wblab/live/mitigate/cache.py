"""Detect a disk's own write cache from the time that flushes take; no setting of the kernel reaches into that cache.

`write_cache` only says that a disk needs flushes: the cache may hold almost nothing, or seconds of work. A flush ends
when everything in the disk is on the medium. Before that it waits for the queue at most. So if flushes take much longer
than a full queue can, the rest of the time goes to the disk's cache.
"""

from pathlib import Path

_BLOCKS = Path("/sys/block")
_TIMES = 2  # multiple of the queue's own time: rates vary, and requests are served slightly out of order
_LEAST_S = 0.5


def queue_s(disk: str, bandwidth: float, blocks: Path = _BLOCKS) -> float:
    """Return how long a disk of `bandwidth` bytes/s needs for a full queue, in s. Raises OSError.

    blocks: the machine's /sys/block.
    """
    queue = blocks / disk / "queue"
    requests, size_kb = (int((queue / name).read_text()) for name in ("nr_requests", "max_sectors_kb"))
    return requests * size_kb * 1024 / bandwidth


def holds_much(disk: str, flush_s: float, bandwidth: float, blocks: Path = _BLOCKS) -> bool:
    """Whether a disk whose flushes take `flush_s` seconds has a write cache much larger than its queue."""
    try:
        volatile = (blocks / disk / "queue/write_cache").read_text().strip() == "write back"
        return volatile and flush_s > max(_LEAST_S, _TIMES * queue_s(disk, bandwidth, blocks))
    except OSError:  # it has no queue, or was just unplugged
        return False
