"""What the guest of one run may do with the host: read programs, keep its results, and no more."""

import os
from collections.abc import Sequence
from pathlib import Path

from wblab.host.lab import Lab
from wblab.host.sandbox import DISTRIBUTION, Sandbox
from wblab.lab.places import SHARE

# What programs besides the lab's own look at: who they are, and what time zone this is.
_FOR_PROGRAMS = ("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/ld.so.preload")
_LAB_PARTS = ("wblab", "misc", "experiments", "experiment.py", "live_experiment.py", "load.py")


def guest_sandbox(
    programs: Sequence[str], more: Sequence[str], lab: Lab | None, *, by_ptrace: bool, largest_file_bytes: int
) -> Sandbox:
    """Return the sandbox of a guest's kernel. What it is not granted the guest cannot read, whoever it is in there.

    programs: those that the guest starts. more: paths that the user grants besides. lab: for guests in which other
    programs run. by_ptrace: for kernels that lack the seccomp mode. largest_file_bytes: memory, disk or trace.
    """
    reads = {*DISTRIBUTION, *(_installation(program) for program in programs), *more}
    lists: tuple[str, ...] = ()
    if lab:
        reads |= {*_FOR_PROGRAMS, _installation(str(lab.python)), str(lab.packages)}
        reads |= {str(SHARE / part) for part in _LAB_PARTS}
        lists = (str(SHARE),)
    return Sandbox(
        reads=sorted(reads),
        lists=lists,
        largest_file_bytes=largest_file_bytes,
        calls="kernel with ptrace" if by_ptrace else "kernel",
    )


def _installation(program: str) -> str:
    """Return the directory that holds a program and its libraries: /opt/python for /opt/python/bin/python3."""
    path = Path(os.path.realpath(program))
    return str(path.parent.parent if path.parent.name in ("bin", "sbin") and len(path.parents) > 2 else path.parent)
