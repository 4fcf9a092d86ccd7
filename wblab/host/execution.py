"""Whether a guest's kernel may execute what lies in memory.

Kernels since 6.13 keep the small program that runs those of the guest in a memfd (arch/um/os-Linux/skas/process.c). A
host can refuse memfds that may be executed: vm.memfd_noexec in Documentation/admin-guide/sysctl/vm.rst.
"""

import errno
import os

REFUSED = "programs in memory are refused (vm.memfd_noexec = 2)"
ADVICE = "as root: sysctl vm.memfd_noexec=1"

_MFD_EXEC = 0x10  # since Linux 6.3; before, every memfd may be executed


def is_allowed() -> bool:
    """Return whether the host makes memfds that may be executed."""
    try:
        os.close(os.memfd_create("wblab-execution", os.MFD_CLOEXEC | _MFD_EXEC))
    except OSError as error:
        return error.errno != errno.EACCES
    return True
