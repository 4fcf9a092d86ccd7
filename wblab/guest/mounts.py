"""The guest's filesystems. Its root is the host's, read-only; of the host, only the scratch directory is writable."""

from pathlib import Path

from wblab.core import entry
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, mount

TRACEFS = Path("/sys/kernel/tracing")


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
