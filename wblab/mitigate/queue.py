"""A short queue: every request that somebody waits for has to wait first for those that the disk got before.

So does a filesystem's commit, an fsync or a read. With the usual 256 requests of half a megabyte that takes seconds on
a slow disk, whatever the scheduler. `nr_requests` bounds it
(Documentation/ABI/stable/sysfs-block).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.machine.changes import Setting
from wblab.mitigate.journal import Journal

_SYS = Path("/sys/block")
LEAST_REQUESTS = 4  # the kernel takes no less: BLKDEV_MIN_RQ


def requests_in(time_s: float, bandwidth: float, request_bytes: int) -> int:
    """Return how many of the largest requests a disk of `bandwidth` bytes/s does in a time."""
    return max(LEAST_REQUESTS, int(time_s * bandwidth / request_bytes))


@dataclass
class ShortQueue:
    """Lowers the number of requests in a disk's queue to what the disk does in a given time; it never raises it."""

    journal: Journal
    disk: Callable[[], str]
    time_s: float
    lasting: bool = False

    def check(self) -> None:
        """See Measure."""
        if not (self._queue() / "nr_requests").exists():
            raise WblabError(f"the disk {self.disk()} has no queue of its own here: choose another policy")

    def start(self, bandwidth: float) -> None:
        """See Measure. What an earlier start has set is undone first."""
        path = self._queue() / "nr_requests"
        self.journal.undo([c for c in self.journal.changes if isinstance(c, Setting) and c.path == str(path)])
        before = path.read_text().strip()
        request_bytes = int((path.parent / "max_sectors_kb").read_text()) * 1024
        requests = requests_in(self.time_s, bandwidth, request_bytes)
        if requests < int(before):
            self.journal.note(Setting(path=str(path), new=str(requests), back_path=str(path), back=before))
            path.write_text(str(requests))

    def hold(self, pid: int) -> int:
        """See Measure: nothing is done to single processes."""
        return 0

    def _queue(self) -> Path:
        return _SYS / self.disk() / "queue"
