"""Paths inside the guest, and the file descriptors by which the host provides them.

The guest reaches its program and its scratch directory (for results) through file descriptors that the kernel's process
inherits. So the guest's paths and command line do not depend on the host's paths. A repeatable run needs this, as the
command line seeds the kernel's random numbers. The host's paths can have any characters.
"""

from pathlib import Path

from wblab.core import entry

# Inherited file descriptors of the User Mode Linux process, besides entry.SCRATCH_FD.
DISK_FD, STATUS_FD = 12, 13
LAB_FD, PACKAGES_FD = 14, 15  # for guests that run programs of the lab
SAMPLES_FD = 16  # for guests that a monitor watches
DISK_FDS = (DISK_FD, *range(17, 24))  # the disks' images, in the order of the disks
COPIES_FD = 24  # a socket, for guests that are copied

ROOM, SCRATCH = Path(entry.ROOM), Path(entry.SCRATCH)
LAB, PACKAGES = ROOM / "lab", ROOM / "packages"
PROGRAMS = ROOM / "bin"
MOUNTS = Path("/mnt")
DISK = MOUNTS / "disk"  # the mount point of a single disk
DISK_DEVICE = Path("/dev/ubda")
STATUS_DEVICE = Path("/dev/tty1")
SAMPLES_DEVICE = Path("/dev/tty2")

# In the scratch directory. The run directory keeps the files that commands and agents write into LEFT.
PARAMETERS, LEFT = "guest.json", "left"


def phase_file(number: int) -> str:
    """Return the name of a phase's file in the scratch directory; `number` counts phases in time, from 0."""
    return f"phase.{number}.json"


def disk_device(place: int) -> Path:
    """Return the device of the host's image with this number, from 0."""
    return DISK_DEVICE.with_name(f"ubd{chr(ord('a') + place)}")


def mount_point(disk: str) -> Path:
    """Return the mount point of a disk."""
    return MOUNTS / disk
