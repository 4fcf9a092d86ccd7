"""Processes that do not outlive the one that started them."""

import os
import signal

from wblab.core.syscalls import checked, libc

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Have the kernel kill this process when `parent`, which forked it, is gone; see prctl(2), PR_SET_PDEATHSIG."""
    checked(libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0))
    if os.getppid() != parent:  # it died before the kernel knew
        os.kill(os.getpid(), signal.SIGKILL)
