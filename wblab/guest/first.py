"""PID 1 at first: mount the scratch directory, and run the program anew from the guest's own memory.

Where the program lies on the host, who owns it there and which inode it is are names and numbers that Python makes
objects of: an owner above 256 takes memory that root does not take, and so a page more or less, and with that other
thresholds. This stage imports next to nothing, for the next one imports it again.
"""

import os
import sys

from wblab.core.entry import OWN_PROGRAM, PROGRAM, SCRATCH, SCRATCH_FD, host_path
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, MS_SYNCHRONOUS, mount, on_hostfs, power_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Become the next stage, or power off."""
    if not on_hostfs("/"):  # before anything is mounted, or the machine powered off, that is no guest of ours
        sys.exit("wblab: this is no guest: its root is not a hostfs; use wblab run")
    try:
        mount_scratch()
        with open(f"{SCRATCH}/{PROGRAM}", "rb", buffering=0) as source, open(OWN_PROGRAM, "wb", buffering=0) as own:
            own.write(source.read())
        options = sys.orig_argv[: sys.orig_argv.index(sys.argv[0])]
        os.execve(options[0], [*options, OWN_PROGRAM], {**os.environ, "PYTHONPATH": OWN_PROGRAM})
    except BaseException as error:
        print(f"cannot start: {error}", file=sys.stderr, flush=True)
    power_off()
    raise AssertionError("the guest is still on")


def mount_scratch() -> None:
    """Mount the directory that the guest shares with the host, in the guest's own memory. Raises OSError."""
    mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV)
    os.makedirs(SCRATCH)
    # Synchronous: the trace that is being recorded must not count as dirty pages of the guest.
    mount("hostfs", SCRATCH, "hostfs", MS_NOSUID | MS_NODEV | MS_SYNCHRONOUS, host_path(SCRATCH_FD))
