"""A limit of the disk's own: of what may be dirty on all disks together, one gets what it writes in a given time.

By default a disk may have all of it. Where that takes a slow one long, its writers fill the limit for everybody, and
what is written has left memory only long after the program has ended. `strict_limit` holds a disk to its share at once,
not only when the limit for all is near (BDI_CAP_STRICTLIMIT in mm/page-writeback.c; since 6.2).

The share is set as `max_ratio_fine`, in millionths of the limit for all. `max_bytes` is no more than that: it is turned
into a share when it is written, and does not show again what was written. As memory fills, the limit for all shrinks
and a share with it: so it is set anew.
"""

from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.machine.writeback import backing_devices, thresholds
from wblab.mitigate.disk import written_elsewhere
from wblab.mitigate.journal import Journal
from wblab.mitigate.settings import give_back, keep, number_before

_ALL = 1_000_000  # 100 * BDI_RATIO_SCALE
_LEAST_BYTES = 1 << 20  # two of the usual largest requests: with less the disk waits for its writers


def share_of(limit_bytes: float, dirty_limit_bytes: int) -> int:
    """Return a limit of the disk's own as a share of that for all, in millionths; 1,000,000 where it is no limit."""
    return min(_ALL, int(_ALL * max(limit_bytes, _LEAST_BYTES) / max(dirty_limit_bytes, 1)))


@dataclass
class StrictLimit:
    """Lowers what may be dirty for a disk to what it writes in a given time; it never raises it.

    beside: only as long as something was written to another disk too, and where the kernel can. A disk that is alone
    stops nobody by it, and its own are better off with a short queue.
    """

    journal: Journal
    time_s: float
    lasting: bool = False
    beside: bool = False
    shared = False

    def check(self, disk: str) -> None:
        """See Measure."""
        if not self.beside and not any((place / "max_ratio_fine").exists() for place in backing_devices(disk)):
            raise WblabError(f"this kernel has no strict_limit for {disk} (6.2 has): choose another policy")

    def start(self, disk: str, bandwidth: float) -> None:
        """See Measure."""
        alone = self.beside and not written_elsewhere(disk)
        share = _ALL if alone else share_of(self.time_s * bandwidth, thresholds()["dirty"])
        for place in backing_devices(disk):
            if (place / "max_ratio_fine").exists():
                self._limit(place, share)

    def hold(self, pid: int) -> int:
        """See Measure: nothing is done to single processes."""
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
