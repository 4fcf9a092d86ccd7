"""The guest's filesystems. Its root is the host's, read-only; of the host, only the scratch directory is writable."""

import errno
import os
from pathlib import Path

from wblab.core import entry
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, mount

TRACEFS = Path("/sys/kernel/tracing")
_MOUNTS = Path("/proc/self/mountinfo")


def mount_all() -> None:
    """Mount all filesystems, except control groups and those of wblab.guest.first.

    They hide the host's /tmp, /mnt, /dev, /proc and /sys, as the first stage hides /run.
    """
    for target, filesystem in (("/tmp", "tmpfs"), ("/mnt", "tmpfs"), ("/dev", "devtmpfs"), ("/proc", "proc")):
        mount(filesystem, target, filesystem, MS_NOSUID)
    mount("sysfs", "/sys", "sysfs", MS_NOSUID)
    mount("tracefs", TRACEFS, "tracefs", MS_NOSUID)


def mount_host(target: Path, fd: int, flags: int = 0) -> None:
    """Mount a directory of the host that the guest gets as a file descriptor. Raises OSError."""
    target.mkdir(parents=True)
    mount("hostfs", target, "hostfs", MS_NOSUID | MS_NODEV | flags, entry.host_path(fd))


def mounted_number(mount_point: Path, mounts: Path = _MOUNTS) -> str:
    """Return the number of a mounted filesystem, major:minor, without asking its server. Raises OSError."""
    found = [fields for line in mounts.read_text().splitlines() if (fields := line.split())[4] == str(mount_point)]
    if not found:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(mount_point))
    return found[-1][2]
