"""Run a command as on a host without Landlock (before Linux 5.13): its system calls fail as unknown."""

import ctypes
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from wblab.core.syscalls import checked, libc
from wblab.host.sandbox.seccomp import install

_LOAD_NUMBER, _ALLOW, _UNKNOWN = (0x20, 0, 0, 0), (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050026)
_PR_SET_NO_NEW_PRIVS = 38
_FIRST, _LAST = 444, 446  # landlock_create_ruleset to landlock_restrict_self


if __name__ == "__main__":
    checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0))
    install([_LOAD_NUMBER, (0x35, 0, 2, _FIRST), (0x25, 1, 0, _LAST), _UNKNOWN, _ALLOW])
    os.execvp(sys.argv[1], sys.argv[1:])
