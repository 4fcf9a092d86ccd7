"""The guest's filesystems: its root is the host's, read-only; only its scratch directory is writable."""

from pathlib import Path

from wblab.core import entry
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, mount

TRACEFS = Path("/sys/kernel/tracing")


def mount_all() -> None:
    """Mount all that wblab.guest.first has not, but control groups.

    What was under /tmp, /mnt, /dev, /proc and /sys of the host is hidden, as what was under /run is.
    """
    for target, filesystem in (("/tmp", "tmpfs"), ("/mnt", "tmpfs"), ("/dev", "devtmpfs"), ("/proc", "proc")):
        mount(filesystem, target, filesystem, MS_NOSUID)
    mount("sysfs", "/sys", "sysfs", MS_NOSUID)
    mount("tracefs", TRACEFS, "tracefs", MS_NOSUID)


def mount_host(target: Path, fd: int, flags: int = 0) -> None:
    """Mount the directory of the host that is handed in as a file descriptor. Raises OSError."""
    target.mkdir(parents=True)
    mount("hostfs", target, "hostfs", MS_NOSUID | MS_NODEV | flags, entry.host_path(fd))
