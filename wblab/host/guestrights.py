"""What the guest of one run may do with the host: read programs, keep its results, and no more."""

from collections.abc import Sequence
from itertools import chain

from wblab.host.guestlab import GuestLab
from wblab.host.installation import check_no_home, needed
from wblab.host.sandbox import DISTRIBUTION, Sandbox

# What programs besides the lab's own look at: who they are, and what time zone this is.
_FOR_PROGRAMS = ("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/ld.so.preload")


def guest_sandbox(
    programs: Sequence[str], more: Sequence[str], lab: GuestLab | None, *, by_ptrace: bool, largest_file_bytes: int
) -> Sandbox:
    """Return the sandbox of a guest's kernel. What it is not granted the guest cannot read, whoever it is in there.

    programs: those that the guest starts. more: paths that the user grants besides. lab: for guests in which other
    programs run. by_ptrace: for kernels that lack the seccomp mode. largest_file_bytes: memory, disk or trace.
    Raises WblabError for a Python that cannot be run, InputError where the lab or Python lie around somebody's home.
    """
    reads = {*DISTRIBUTION, *chain.from_iterable(map(needed, programs)), *more}
    if lab:
        reads |= {*_FOR_PROGRAMS, *needed(str(lab.python)), str(lab.modules)}
        if lab.has_packages:
            check_no_home(str(lab.packages))
            reads.add(str(lab.packages))
    return Sandbox(
        reads=sorted(reads),
        largest_file_bytes=largest_file_bytes,
        calls="kernel with ptrace" if by_ptrace else "kernel",
    )
