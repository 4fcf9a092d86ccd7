"""Paths and descriptors for the guest's first stage, as plain strings: that stage imports almost nothing."""

SCRATCH_FD = 11  # of the User Mode Linux process: the host's directory for the guest's results
ROOM = "/run/wblab"
SCRATCH = f"{ROOM}/scratch"
PROGRAM = "experiment.pyz"  # in the scratch directory
OWN_PROGRAM = f"{ROOM}/{PROGRAM}"  # the guest's own copy of its program


def host_path(fd: int) -> str:
    """Return the path by which the User Mode Linux process reaches an inherited file descriptor."""
    return f"/proc/self/fd/{fd}"
