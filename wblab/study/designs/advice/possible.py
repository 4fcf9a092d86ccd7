"""The changes that `--apply` can have made. Only these are undone from its journal."""

import re
from pathlib import Path
from typing import get_args

from wblab.core.spec import Scheduler as Known
from wblab.live.mitigate.journal import is_possible as daemon_can
from wblab.machine.changes import Change, Scheduler, Setting

# In addition to the daemon's changes: the file that is set, a space, and the file that restores it.
_SETTING = re.compile(
    r"(/sys/block/[A-Za-z0-9][^/\0\n ]*/queue/wbt_lat_usec) \1"
    r"|(/proc/sys/vm/dirty_(?:expire|writeback)_centisecs) \2"
)
_DISK = re.compile(r"/sys/block/[A-Za-z0-9][^/\0\n ]*")
_NUMBER = re.compile(r"[0-9]{1,19}")


def is_possible(change: Change, root: Path | None) -> bool:
    """Whether `wblab advise` can have made a change. `root` is where cgroup v2 is mounted, or None."""
    match change:
        case Setting():
            numeric = all(_NUMBER.fullmatch(text) for text in (change.new, change.back))
            own = numeric and bool(_SETTING.fullmatch(f"{change.path} {change.back_path}"))
            return own or daemon_can(change, root)
        case Scheduler():
            numbers = (change.nr_requests, change.wbt_lat_usec)
            known = change.old in get_args(Known) and bool(_DISK.fullmatch(change.disk))
            return known and all(not text or bool(_NUMBER.fullmatch(text)) for text in numbers)
        case _:
            return False
