"""A limit on one disk's share of dirty memory: what the disk writes in a given time.

By default one disk may use the whole dirty limit. A slow disk's writers then fill the limit for everybody, and their
data leaves memory long after the program has ended. `strict_limit` enforces the disk's share at once, not only near the
global limit (BDI_CAP_STRICTLIMIT in mm/page-writeback.c; since 6.2).

The share is set as `max_ratio_fine`, in millionths of the global limit. `max_bytes` would not do better: the kernel
converts it to a share when it is written, and reads back another value. As memory fills, the global limit shrinks and
so does the share, so it is set again in each period.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.live.mitigate.disk import written_elsewhere
from wblab.live.mitigate.journal import Journal
from wblab.live.mitigate.settings import give_back, keep, number_before
from wblab.machine.writeback import backing_devices, thresholds

_ALL = 1_000_000  # 100 * BDI_RATIO_SCALE
_LEAST_BYTES = 1 << 20  # two of the usual largest requests; with less the disk idles, waiting for its writers


def share_of(limit_bytes: float, dirty_limit_bytes: int) -> int:
    """Return a disk's limit as a share of the global limit, in millionths; 1,000,000 if it is no limit."""
    return min(_ALL, int(_ALL * max(limit_bytes, _LEAST_BYTES) / max(dirty_limit_bytes, 1)))


def _dirty_bytes() -> int:
    return thresholds()["dirty"]


@dataclass
class StrictLimit:
    """Lowers a disk's limit on dirty memory to what it writes in a given time; never raises it.

    beside: only while another disk is written to as well, and only if the kernel supports it. A disk on its own stalls
    nobody else, and a short queue serves its own users better.

    sys: the machine's /sys. dirty_bytes: its global limit. elsewhere: whether another disk than this is written to.
    """

    journal: Journal
    time_s: float
    lasting: bool = False
    beside: bool = False
    sys: Path = Path("/sys")
    dirty_bytes: Callable[[], int] = _dirty_bytes
    elsewhere: Callable[[str], bool] = written_elsewhere
    shared = False

    def check(self, disk: str) -> None:
        """See Measure."""
        if not self.beside and not any(
            (place / "max_ratio_fine").exists() for place in backing_devices(disk, self.sys)
        ):
            raise WblabError(
                f"this kernel has no strict_limit for {disk} (Linux 6.2 and later have it): choose another policy"
            )

    def start(self, disk: str, bandwidth: float) -> None:
        """See Measure."""
        alone = self.beside and not self.elsewhere(disk)
        share = _ALL if alone else share_of(self.time_s * bandwidth, self.dirty_bytes())
        for place in backing_devices(disk, self.sys):
            if (place / "max_ratio_fine").exists():
                self._limit(place, share)

    def hold(self, pid: int) -> int:
        """See Measure: no action on single processes."""
        return 0

    def _limit(self, place: Path, share: int) -> None:
        ratio, strict = place / "max_ratio_fine", place / "strict_limit"
        share = max(share, int((place / "min_ratio_fine").read_text()))
        if share < number_before(self.journal, ratio):
            keep(self.journal, ratio, share)
            keep(self.journal, strict, 1)
        else:
            give_back(self.journal, strict)
            give_back(self.journal, ratio)
