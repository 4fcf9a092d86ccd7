"""The table of what the lab may set on this machine, and of the verbs that set it.

Root sets no file of the kernel that is not in it, and undoes nothing from a journal that is not. Anything else in a
journal (another file, another group, an impossible number) was put there by somebody who wants root to "undo" what was
never done.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

from wblab.core.drivers import FEWEST_REQUESTS
from wblab.core.drivers import Scheduler as Known
from wblab.machine.block import SMALLEST_REQUEST
from wblab.machine.changes import Change, Controller, IoPriority, MadeGroup, Membership, Scheduler, Setting

Where = Literal["sysctl", "queue", "bdi"]

SYSCTLS, DISKS, BDIS = Path("/proc/sys"), Path("/sys/block"), Path("/sys/class/bdi")
GROUP = "wblab-mitigate"
CONTROLLERS = ("io", "memory")
MOST_BYTES = 1 << 50
WHOLE = 1_000_000  # 100 * BDI_RATIO_SCALE: the whole threshold, which is no limit
_MOST_REQUESTS = 10_240  # BLK_MQ_MAX_DEPTH
_MOST_REQUEST_KB = 1 << 31  # the kernel takes no more than max_hw_sectors_kb, and no less than a page
_MOST_CENTISECONDS = 60 * 60 * 100


@dataclass(frozen=True)
class KernelFile:
    """A file that is set to a number, and undone by writing the earlier one.

    numbers: what a remedy may set it to; the daemon computes its own. by: the verbs that set it. instead: the file in
    the same directory that is in force while this one shows 0, and is then the one to write back.
    """

    numbers: range
    by: tuple[str, ...] = ("advise", "mitigate")
    instead: str = ""


FILES: Mapping[tuple[str, str], KernelFile] = {
    ("sysctl", "vm.dirty_background_bytes"): KernelFile(range(512 << 10, MOST_BYTES), instead="dirty_background_ratio"),
    ("sysctl", "vm.dirty_bytes"): KernelFile(range(1 << 20, MOST_BYTES), instead="dirty_ratio"),
    ("sysctl", "vm.dirty_expire_centisecs"): KernelFile(range(1, _MOST_CENTISECONDS + 1), by=("advise",)),
    # 0 would stop the flusher's timer
    ("sysctl", "vm.dirty_writeback_centisecs"): KernelFile(range(1, _MOST_CENTISECONDS + 1), by=("advise",)),
    ("queue", "nr_requests"): KernelFile(range(FEWEST_REQUESTS, _MOST_REQUESTS + 1)),
    ("queue", "max_sectors_kb"): KernelFile(range(SMALLEST_REQUEST >> 10, _MOST_REQUEST_KB)),
    ("queue", "wbt_lat_usec"): KernelFile(range(10_000_000 + 1), by=("advise",)),
    ("bdi", "max_ratio_fine"): KernelFile(range(1, WHOLE + 1)),
    ("bdi", "strict_limit"): KernelFile(range(1, 2)),
}
SCHEDULER = ("queue", "scheduler")  # set by name, by wblab advise

_NAME = r"/[A-Za-z0-9][^/\0\n ]*"
_BELOW = {"sysctl": "/", "queue": f"{_NAME}/queue/", "bdi": f"{_NAME}/"}
_NUMBER = re.compile(r"[0-9]{1,19}")
_MOST_TASKS, _MOST_TICKS, _MOST_PRIORITY = 1 << 22, 1 << 63, 1 << 16


def files_of(where: str, key: str, disks: Sequence[str], bdi: str) -> list[Path]:
    """Return the files of a setting: of a sysctl such as vm.dirty_bytes, of each disk's queue, or of a bdi."""
    if where == "sysctl":
        return [SYSCTLS.joinpath(*key.split("."))]
    return [DISKS / disk / "queue" / key for disk in disks] if where == "queue" else [BDIS / bdi / key]


def counterpart(path: Path) -> Path | None:
    """Return the file that is in force while this one shows 0: vm.dirty_ratio for vm.dirty_bytes; None if none is."""
    names = (row.instead for (_, key), row in FILES.items() if row.instead and key.endswith(f".{path.name}"))
    return next((path.with_name(name) for name in names), None)


@dataclass(frozen=True)
class ChangingVerb:
    """A verb that changes this machine. kinds: of its changes.

    For messages: writes, who writes its journal; runs, who holds its lock; needs, why it needs root; instead, what to
    do if the directory of its journal cannot be used.
    """

    name: str
    kinds: tuple[type[Change], ...]
    writes: str
    runs: str
    needs: str
    instead: str

    def can_make(self, change: Change, root: Path | None) -> bool:
        """Whether this verb can have made a change. root: where cgroup v2 is mounted, or None."""
        match change:
            case _ if not isinstance(change, self.kinds):
                pass  # another verb's
            case Setting():
                return _is_setting_of(self.name, change)
            case Scheduler():
                return _is_scheduler(change)
            case Controller():
                return root is not None and change.path == str(root) and change.name in CONTROLLERS
            case MadeGroup():
                return _is_group(change.path, root)
            case IoPriority() | Membership():
                return _is_of_process(change, root)
        return False


ADVISE = ChangingVerb(
    name="advise",
    kinds=(Setting, Scheduler),
    writes="wblab advise",
    runs="another wblab advise",
    needs="changing this machine needs root: use sudo",
    instead="only root may own it and write to it",
)
MITIGATE = ChangingVerb(
    name="mitigate",
    kinds=(IoPriority, Membership, Setting, Controller, MadeGroup),
    writes="a daemon",
    runs="a daemon",
    needs="the daemon needs root to change processes: use sudo, or --dry-run to watch only",
    instead="set `state` to another directory",
)


def _is_setting_of(verb: str, change: Setting) -> bool:
    path, row = Path(change.path), _row(change.path)
    ways_back = [str(way) for way in (path, counterpart(path)) if way]
    numeric = all(_NUMBER.fullmatch(text) for text in (change.new, change.back))
    return row is not None and verb in row.by and numeric and change.back_path in ways_back


def _row(path: str) -> KernelFile | None:
    """Return the row of a file; None for one that the lab never sets."""
    roots = {"sysctl": SYSCTLS, "queue": DISKS, "bdi": BDIS}
    for (where, key), row in FILES.items():
        if re.fullmatch(re.escape(str(roots[where])) + _BELOW[where] + re.escape(key.replace(".", "/")), path):
            return row
    return None


def _is_scheduler(change: Scheduler) -> bool:
    is_disk = re.fullmatch(re.escape(str(DISKS)) + _NAME, change.disk) is not None
    numeric = all(not text or _NUMBER.fullmatch(text) for text in (change.nr_requests, change.wbt_lat_usec))
    return is_disk and numeric and change.old in get_args(Known)


def _is_of_process(change: IoPriority | Membership, root: Path | None) -> bool:
    born = 0 <= change.start_ticks < _MOST_TICKS and 0 <= change.session < _MOST_TASKS
    if isinstance(change, Membership):
        return born and 0 < change.pid < _MOST_TASKS and _is_below(change.old, root) and _is_group(change.new, root)
    numbers = ((change.tid, change.pid), _MOST_TASKS), ((change.old, change.new), _MOST_PRIORITY)
    return born and all(0 <= number < most for values, most in numbers for number in values)


def _is_group(path: str, root: Path | None) -> bool:
    return root is not None and path == str(root / GROUP)


def _is_below(path: str, root: Path | None) -> bool:
    pure = PurePosixPath(path)
    return root is not None and pure.is_relative_to(root) and ".." not in pure.parts and "\0" not in path
