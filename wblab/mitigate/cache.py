"""A write cache of the disk's own, which no setting of the kernel's reaches into, told by the flushes that wait for it.

`write_cache` says only that a disk is to be flushed: it may hold next to nothing, or seconds of work. A flush is done
when all that the disk holds is on the medium. Before it, it has to wait for no more than the queue has. So where
flushes take much longer than the queue can, the disk itself holds the rest.
"""

from pathlib import Path

_SYS = Path("/sys/block")
_TIMES = 2  # as long as the queue's own time: rates change, and requests are not served quite in order
_LEAST_S = 0.5


def queue_s(disk: str, bandwidth: float) -> float:
    """Return for how long a disk of `bandwidth` bytes/s works on its queue, if that is full. Raises OSError."""
    requests, size_kb = (int((_SYS / disk / "queue" / name).read_text()) for name in ("nr_requests", "max_sectors_kb"))
    return requests * size_kb * 1024 / bandwidth


def holds_much(disk: str, flush_s: float, bandwidth: float) -> bool:
    """Whether a disk whose flushes take `flush_s` has a write cache that holds much more than its queue."""
    try:
        volatile = (_SYS / disk / "queue/write_cache").read_text().strip() == "write back"
        return volatile and flush_s > max(_LEAST_S, _TIMES * queue_s(disk, bandwidth))
    except OSError:  # it has no queue, or has just been pulled out
        return False
