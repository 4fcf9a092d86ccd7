"""Whose turn it is on a machine: runs in virtual time share it, one in real time has it to itself.

What else runs takes time from a guest that keeps the host's clock, and its pauses would be those of its neighbours.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from wblab.core.spec import ClockMode
from wblab.host.machine import shared_memory

_LOOK_S = 0.2


@contextmanager
def turn(mode: ClockMode, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold this machine for a run, together with others in virtual time, or alone in real time.

    Until it is free, `waiting` is called several times a second, and may raise to give up. All matrices of all users
    take their turns: what is locked (flock(2)) is the directory that every guest needs, so that no file is left.
    """
    how = fcntl.LOCK_EX if mode == "real" else fcntl.LOCK_SH
    descriptor = os.open(shared_memory(), os.O_RDONLY | os.O_DIRECTORY)
    try:
        while not _locked(descriptor, how):
            waiting()
            time.sleep(_LOOK_S)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
