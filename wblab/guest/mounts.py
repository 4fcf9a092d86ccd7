"""The guest's filesystems: its root is the host's, read-only; only its scratch directory is writable."""

from pathlib import Path

from wblab.core import layout
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, MS_SYNCHRONOUS, mount

TRACEFS = Path("/sys/kernel/tracing")


def mount_all() -> None:
    """Mount all but control groups. What was under /run, /tmp, /mnt, /dev, /proc and /sys of the host is hidden."""
    mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV)
    # Synchronous: the trace that is being recorded must not count as dirty pages of the guest.
    mount_host(layout.SCRATCH, layout.SCRATCH_FD, MS_SYNCHRONOUS)
    for target, filesystem in (("/tmp", "tmpfs"), ("/mnt", "tmpfs"), ("/dev", "devtmpfs"), ("/proc", "proc")):
        mount(filesystem, target, filesystem, MS_NOSUID)
    mount("sysfs", "/sys", "sysfs", MS_NOSUID)
    mount("tracefs", TRACEFS, "tracefs", MS_NOSUID)


def mount_host(target: Path, fd: int, flags: int = 0) -> None:
    """Mount the directory of the host that is handed in as a file descriptor. Raises OSError."""
    target.mkdir(parents=True)
    mount("hostfs", target, "hostfs", MS_NOSUID | MS_NODEV | flags, layout.host_path(fd))
