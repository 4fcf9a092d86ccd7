"""Which I/O schedulers know priorities.

bfq serves classes and levels (block/bfq-iosched.c). mq-deadline serves a class only when those above it are empty or it
has waited for prio_aging_expire, and knows no levels; older ones, without that attribute, know no classes either
(block/mq-deadline.c). kyber and none look at neither. io.weight counts for bfq (io.bfq.weight) and, where it is
enabled for the disk, for iocost (block/blk-iocost.c) under any scheduler.

None of them sees who dirtied a page: buffered writes reach the disk with the priority of the flusher. What a class
changes is the rest, such as the offender's fsync, its reads, and the writes that it does itself.
"""

from pathlib import Path

from wblab.machine.block import number, scheduler

_SYS = Path("/sys/block")


def scheduler_of(disk: str) -> str:
    """Return the scheduler in use for a disk of /sys/block; `none` where it has none."""
    try:
        return scheduler(_SYS / disk)
    except OSError:
        return "none"


def objection(disk: str, policy: str, cgroups: Path | None) -> str:
    """Return why a policy will do little on a disk, and what would help; '' where nothing speaks against it.

    `cgroups` is where cgroup v2 is mounted.
    """
    name = scheduler_of(disk)
    switch = f"echo bfq > {_SYS / disk / 'queue/scheduler'}"
    if policy in ("idle", "best-effort-7") and name != "bfq":
        if name != "mq-deadline" or not (_SYS / disk / "queue/iosched/prio_aging_expire").exists():
            return f"the scheduler {name} of {disk} ignores I/O priorities; bfq does not: {switch}"
        if policy == "best-effort-7":
            return f"the scheduler {name} of {disk} knows classes but no levels; bfq does: {switch}"
    if policy == "io.weight" and name != "bfq" and not _iocost(disk, cgroups):
        return f"io.weight needs bfq or iocost, and {disk} has neither: {switch}"
    return ""


def _iocost(disk: str, cgroups: Path | None) -> bool:
    """Whether iocost is enabled for a disk (Documentation/admin-guide/cgroup-v2.rst, io.cost.qos)."""
    if cgroups is None:
        return False
    try:
        own = number(_SYS / disk)
        lines = (cgroups / "io.cost.qos").read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith(f"{own} ") and "enable=1" in line.split() for line in lines)
