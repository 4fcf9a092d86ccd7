"""The first stage of PID 1: mount the scratch directory, and run the program again from the guest's own memory.

Python makes objects of the program's path, owner and inode. On the host these differ: an owner above 256 needs memory
that root does not need. One page more or less changes the dirty thresholds. So the program runs from a copy in the
guest. This stage imports almost nothing, as the next one imports it again.
"""

import os
import sys

from wblab.core.entry import OWN_PROGRAM, PROGRAM, SCRATCH, SCRATCH_FD, host_path
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, MS_SYNCHRONOUS, mount, on_hostfs, power_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Execute the next stage, or power off."""
    if not on_hostfs("/"):  # checked first, as a machine that is not a guest must not be mounted on or powered off
        sys.exit("wblab: this is no guest, as its root is not hostfs: use wblab run")
    try:
        mount_scratch()
        with open(f"{SCRATCH}/{PROGRAM}", "rb", buffering=0) as source, open(OWN_PROGRAM, "wb", buffering=0) as own:
            own.write(source.read())
        options = sys.orig_argv[: sys.orig_argv.index(sys.argv[0])]
        os.execve(options[0], [*options, OWN_PROGRAM], {**os.environ, "PYTHONPATH": OWN_PROGRAM})
    except BaseException as error:
        print(f"cannot start the guest: {error}", file=sys.stderr, flush=True)
    power_off()
    raise AssertionError("the guest is still on")


def mount_scratch() -> None:
    """Mount the directory that the guest shares with the host, on a tmpfs at /run. Raises OSError."""
    mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV)
    os.makedirs(SCRATCH)
    # Synchronous, so that the trace does not add dirty pages to the guest while it is recorded.
    mount("hostfs", SCRATCH, "hostfs", MS_NOSUID | MS_NODEV | MS_SYNCHRONOUS, host_path(SCRATCH_FD))
