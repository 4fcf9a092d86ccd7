"""The I/O priorities of a test's processes."""

import os

from wblab.machine.processes import get_ioprio, identify, threads


def all_ioprios(session: int) -> dict[tuple[int, int], int]:
    """Return the I/O priority of each thread of a session's processes, by thread and its start time."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        for tid in threads(int(name)):
            identity = identify(tid)
            if identity and identity.session == session:
                found[tid, identity.start_ticks] = get_ioprio(tid)
    return found
