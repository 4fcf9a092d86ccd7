"""Where things are inside the guest, and how the host hands them in.

The guest reaches its program and its scratch directory, where it leaves its results, through file descriptors that the
kernel's process inherits. Its paths and its command line are then the same wherever these lie on the host, which a
repeatable run needs (the command line feeds the kernel's random numbers) and which lets paths have any characters.
"""

from pathlib import Path

from wblab.core import entry

# Inherited file descriptors of the User Mode Linux process, besides entry.SCRATCH_FD.
DISK_FD, STATUS_FD = 12, 13
LAB_FD, PACKAGES_FD = 14, 15  # for guests in which programs of the lab run
SAMPLES_FD = 16  # for guests that are watched
DISK_FDS = (DISK_FD, *range(17, 24))  # of the disks, in their order

ROOM, SCRATCH = Path(entry.ROOM), Path(entry.SCRATCH)
LAB, PACKAGES = ROOM / "lab", ROOM / "packages"
PROGRAMS = ROOM / "bin"
MOUNTS = Path("/mnt")
DISK = MOUNTS / "disk"  # where a disk is mounted that is alone
DISK_DEVICE = Path("/dev/ubda")
STATUS_DEVICE = Path("/dev/tty1")
SAMPLES_DEVICE = Path("/dev/tty2")

# In the scratch directory; what commands and agents put into LEFT is kept in the run directory.
PARAMETERS, LEFT = "guest.json", "left"


def phase_file(number: int) -> str:
    """Return the name of the file in the scratch directory that says what a phase sets; `number`: in time, from 0."""
    return f"phase.{number}.json"


def disk_device(place: int) -> Path:
    """Return the device that the host made at this place, from 0."""
    return DISK_DEVICE.with_name(f"ubd{chr(ord('a') + place)}")


def mount_point(disk: str) -> Path:
    """Return where the disk of this name is mounted."""
    return MOUNTS / disk
