"""Whose turn it is on a machine: runs in virtual time share it, one in real time has it to itself.

What else runs takes time from a guest that keeps the host's clock, and its pauses would be those of its neighbours.
"""

import errno
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from wblab.core.spec import ClockMode
from wblab.host.machine import shared_memory

_LOOK_S = 0.2
_LONGEST_NAME = 100  # sun_path has 108 bytes


@contextmanager
def machine_lock(mode: ClockMode, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold this machine for a run, together with others in virtual time, or alone in real time.

    Until it is free, `waiting` is called several times a second, and may raise to give up. All matrices of all users
    take their turns: what is locked (flock(2)) is the directory that every guest needs, so that no file is left. Only
    one waits at the lock, all others at a door before it (the name of an abstract socket, unix(7)): runs that share
    the machine would for ever overlap, and keep one out that wants it alone.
    """
    how = fcntl.LOCK_EX if mode == "real" else fcntl.LOCK_SH
    descriptor = os.open(shared_memory(), os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as door:
            while not _taken(door):
                waiting()
                time.sleep(_LOOK_S)
            while not _locked(descriptor, how):
                waiting()
                time.sleep(_LOOK_S)
        yield
    finally:
        os.close(descriptor)


def _taken(door: socket.socket) -> bool:
    try:
        door.bind((b"\0wblab turn " + os.fsencode(shared_memory().resolve()))[:_LONGEST_NAME])
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
