"""What the guest's first stage must know of where things are, as plain text: it imports next to nothing."""

SCRATCH_FD = 11  # of the User Mode Linux process: the directory on the host that the guest leaves its results in
ROOM = "/run/wblab"
SCRATCH = f"{ROOM}/scratch"
PROGRAM = "experiment.pyz"  # in the scratch directory
OWN_PROGRAM = f"{ROOM}/{PROGRAM}"  # the guest's own copy of its program


def host_path(fd: int) -> str:
    """Return the path by which the User Mode Linux process reaches an inherited file descriptor."""
    return f"/proc/self/fd/{fd}"
