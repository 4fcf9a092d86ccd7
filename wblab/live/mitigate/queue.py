"""A short disk queue: a request that somebody waits for comes after all that the disk got before it.

That includes a filesystem's commit, an fsync and a read. With the usual 256 requests of 512 KiB the wait is seconds on
a slow disk, whatever the scheduler. `nr_requests` limits it (Documentation/ABI/stable/sysfs-block).
"""

from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.live.mitigate.journal import Journal
from wblab.live.mitigate.settings import give_back, keep, number_before

_BLOCKS = Path("/sys/block")
LEAST_REQUESTS = 4  # the kernel's minimum: BLKDEV_MIN_RQ


def requests_in(time_s: float, bandwidth: float, request_bytes: int) -> int:
    """Return how many of the largest requests a disk of `bandwidth` bytes/s serves in `time_s`."""
    return max(LEAST_REQUESTS, int(time_s * bandwidth / request_bytes))


@dataclass
class ShortQueue:
    """Lowers the number of requests in a disk's queue to what the disk serves in a given time; never raises it.

    blocks: the machine's /sys/block.
    """

    journal: Journal
    time_s: float
    lasting: bool = False
    blocks: Path = _BLOCKS
    shared = False

    def check(self, disk: str) -> None:
        """See Measure."""
        if not (self.blocks / disk / "queue/nr_requests").exists():
            raise WblabError(f"the disk {disk} has no request queue of its own: choose another policy")

    def start(self, disk: str, bandwidth: float) -> None:
        """See Measure."""
        path = self.blocks / disk / "queue/nr_requests"
        request_bytes = int((path.parent / "max_sectors_kb").read_text()) * 1024
        requests = requests_in(self.time_s, bandwidth, request_bytes)
        if requests < number_before(self.journal, path):
            keep(self.journal, path, requests)
        else:
            give_back(self.journal, path)

    def hold(self, pid: int) -> int:
        """See Measure: no action on single processes."""
        return 0
