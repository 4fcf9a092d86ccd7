"""The measures that set files of the kernel: a low dirty limit, a short queue, a limit on one disk's dirty memory."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import DISKS, SYSCTLS, WHOLE
from wblab.live.changes.setting import give_back, keep, number_before
from wblab.live.mitigate.disk import written_elsewhere
from wblab.machine.block import backing_devices, number, scheduler, shortened, thresholds

# Which I/O schedulers honour priorities.
#
# bfq serves classes and levels (block/bfq-iosched.c). mq-deadline serves a class only when the classes above it are
# empty, or after prio_aging_expire; it ignores levels. Older versions without that attribute ignore classes too
# (block/mq-deadline.c). kyber and none ignore both. io.weight works with bfq (io.bfq.weight) and, if enabled for the
# disk, with iocost (block/blk-iocost.c) under any scheduler.
#
# None of them sees who dirtied a page: buffered writes reach the disk with the flusher's priority. A class changes the
# rest, such as the offender's fsync, its reads and its direct writes.


def scheduler_of(disk: str, blocks: Path = DISKS) -> str:
    """Return a disk's scheduler; `none` if it has none. blocks: the machine's /sys/block."""
    try:
        return scheduler(blocks / disk)
    except OSError:
        return "none"


def objection(disk: str, policy: str, cgroups: Path | None, blocks: Path = DISKS) -> str:
    """Return why a policy will do little on a disk, and what would help; '' if it works.

    `cgroups` is where cgroup v2 is mounted. blocks: the machine's /sys/block.
    """
    name = scheduler_of(disk, blocks)
    switch = f"echo bfq > {blocks / disk / 'queue/scheduler'}"
    if policy in ("idle", "best-effort-7") and name != "bfq":
        if name != "mq-deadline" or not (blocks / disk / "queue/iosched/prio_aging_expire").exists():
            return f"{disk} uses the scheduler {name}, which ignores I/O priorities; bfq honours them: {switch}"
        if policy == "best-effort-7":
            return (
                f"{disk} uses the scheduler {name}, which honours I/O classes but no levels; bfq honours both: {switch}"
            )
    if policy == "io.weight" and name != "bfq" and not _iocost(blocks / disk, cgroups):
        return f"io.weight needs bfq or iocost, and {disk} has neither: {switch}"
    return ""


def _iocost(disk: Path, cgroups: Path | None) -> bool:
    """Whether iocost is enabled for a disk (Documentation/admin-guide/cgroup-v2.rst, io.cost.qos)."""
    if cgroups is None:
        return False
    try:
        own = number(disk)
        lines = (cgroups / "io.cost.qos").read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith(f"{own} ") and "enable=1" in line.split() for line in lines)


# A low dirty limit for all: what the disk writes in a given time.


@dataclass
class DirtyBytes:
    """Lowers the global dirty limits to what the disk writes in a given time.

    vm: the machine's /proc/sys/vm.
    """

    journal: Journal
    time_s: float
    lasting: bool = False
    vm: Path = SYSCTLS / "vm"
    shared = True

    def check(self, disk: str) -> None:
        """See Measure: every kernel can."""

    def start(self, disk: str, bandwidth: float) -> None:
        """See Measure."""
        for name, part in (("dirty_background_bytes", 0.5), ("dirty_bytes", 1.0)):
            size = max(int(bandwidth * self.time_s * part), 2 * 4096)  # the kernel's minimum is two pages
            keep(self.journal, self.vm / name, size)

    def hold(self, pid: int) -> int:
        """See Measure: no action on single processes."""
        return 0


# A short disk queue: a request that somebody waits for comes after all that the disk got before it.
#
# That includes a filesystem's commit, an fsync and a read. How long it waits is a matter of bytes: SATA's 64 requests
# of 4 MiB are minutes on a slow disk, and 4 of them are still seconds. `nr_requests` and, where the fewest requests are
# too long, `max_sectors_kb` limit them, whatever the scheduler (Documentation/ABI/stable/sysfs-block).


@dataclass
class ShortQueue:
    """Lowers what a disk's queue holds to what the disk serves in a given time; never raises it.

    blocks: the machine's /sys/block.
    """

    journal: Journal
    time_s: float
    lasting: bool = False
    blocks: Path = DISKS
    shared = False

    def check(self, disk: str) -> None:
        """See Measure."""
        if not (self.blocks / disk / "queue/nr_requests").exists():
            raise WblabError(f"the disk {disk} has no request queue of its own: choose another policy")

    def start(self, disk: str, bandwidth: float) -> None:
        """See Measure."""
        queue = self.blocks / disk / "queue"
        paths = queue / "nr_requests", queue / "max_sectors_kb"
        requests, size_kb = (number_before(self.journal, path) for path in paths)
        fewer, smaller_bytes = shortened(requests, size_kb << 10, self.time_s * bandwidth)
        for path, before, wanted in zip(paths, (requests, size_kb), (fewer, smaller_bytes >> 10), strict=True):
            if wanted < before:
                keep(self.journal, path, wanted)
            else:
                give_back(self.journal, path)

    def hold(self, pid: int) -> int:
        """See Measure: no action on single processes."""
        return 0


# A limit on one disk's share of dirty memory: what the disk writes in a given time.
#
# By default one disk may use the whole dirty limit. A slow disk's writers then fill the limit for everybody, and their
# data leaves memory long after the program has ended. `strict_limit` enforces the disk's share at once, not only near
# the
# global limit (BDI_CAP_STRICTLIMIT in mm/page-writeback.c; since 6.2).
#
# The share is set as `max_ratio_fine`, in millionths of the global limit. `max_bytes` would not do better: the kernel
# converts it to a share when it is written, and reads back another value. As memory fills, the global limit shrinks and
# so does the share, so it is set again in each period.

_LEAST_BYTES = 1 << 20  # two of the usual largest requests; with less the disk idles, waiting for its writers


def share_of(limit_bytes: float, dirty_limit_bytes: int) -> int:
    """Return a disk's limit as a share of the global limit, in millionths; 1,000,000 if it is no limit."""
    return min(WHOLE, int(WHOLE * max(limit_bytes, _LEAST_BYTES) / max(dirty_limit_bytes, 1)))


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
        share = WHOLE if alone else share_of(self.time_s * bandwidth, self.dirty_bytes())
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
