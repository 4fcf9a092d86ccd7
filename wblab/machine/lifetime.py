"""Processes that end with the process that started them."""

import os
import signal

from wblab.core.syscalls import checked, libc

_PR_SET_PDEATHSIG = 1


def end_with(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel signal this process when `parent`, which forked it, is gone.

    See prctl(2), PR_SET_PDEATHSIG. Raises OSError.
    """
    checked(libc.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0))
    if os.getppid() != parent:  # it died before the call took effect
        os.kill(os.getpid(), number)
