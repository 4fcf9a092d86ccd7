"""Which I/O schedulers honour priorities.

bfq serves classes and levels (block/bfq-iosched.c). mq-deadline serves a class only when the classes above it are
empty, or after prio_aging_expire; it ignores levels. Older versions without that attribute ignore classes too
(block/mq-deadline.c). kyber and none ignore both. io.weight works with bfq (io.bfq.weight) and, if enabled for the
disk, with iocost (block/blk-iocost.c) under any scheduler.

None of them sees who dirtied a page: buffered writes reach the disk with the flusher's priority. A class changes the
rest, such as the offender's fsync, its reads and its direct writes.
"""

from pathlib import Path

from wblab.machine.block import number, scheduler

_BLOCKS = Path("/sys/block")


def scheduler_of(disk: str, blocks: Path = _BLOCKS) -> str:
    """Return a disk's scheduler; `none` if it has none. blocks: the machine's /sys/block."""
    try:
        return scheduler(blocks / disk)
    except OSError:
        return "none"


def objection(disk: str, policy: str, cgroups: Path | None, blocks: Path = _BLOCKS) -> str:
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
