"""Run a command as on a host with an older kernel: FIRST COMMAND... .

System calls with numbers from FIRST on fail as unknown, and memfds know no flags of Linux 6.3.
"""

import ctypes
import errno
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from wblab.core.syscalls import checked, libc
from wblab.host.sandbox.seccomp import install

_LOAD_NUMBER, _LOAD_FLAGS = (0x20, 0, 0, 0), (0x20, 0, 0, 24)  # the call, and the second argument
_ALLOW = (0x06, 0, 0, 0x7FFF0000)
_UNKNOWN, _INVALID = ((0x06, 0, 0, 0x50000 | error) for error in (errno.ENOSYS, errno.EINVAL))
_PR_SET_NO_NEW_PRIVS = 38
_MEMFD_CREATE = 319
_NOEXEC_SEAL_OR_EXEC = 0x18


if __name__ == "__main__":
    first, *command = sys.argv[1:]
    checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0))
    install(
        [
            _LOAD_NUMBER,
            (0x35, 0, 1, int(first)),
            _UNKNOWN,
            (0x15, 0, 3, _MEMFD_CREATE),
            _LOAD_FLAGS,
            (0x45, 0, 1, _NOEXEC_SEAL_OR_EXEC),
            _INVALID,
            _ALLOW,
        ]
    )
    os.execvp(command[0], command)
