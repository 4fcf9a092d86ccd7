"""What the kernel of this machine has to permit a guest's: the same addresses in each run, and programs in memory."""

import ctypes
import errno
import os

from wblab.core.syscalls import libc

# A guest's kernel takes the gap between its data and its heap for memory. With random addresses that is up to 1 GiB,
# another in each run: some guests exceed their limits as they start, and no run repeats. So the kernel switches the
# randomization off for itself (personality(2)). Seccomp profiles of containers refuse the call; but a container
# inherits what started it.
RANDOM = "random: some guests do not start, and no run repeats"
RANDOM_ADVICE = "in a container: 'setarch --addr-no-randomize podman run ...', or a profile that allows personality(2)"

_NO_RANDOM_ADDRESSES = 0x0040000
_PERSONALITY = "/proc/self/personality"


def addresses_are_fixed() -> bool:
    """Return whether addresses are the same in each run, or a program may switch randomization off."""
    now = _personality()
    if now & _NO_RANDOM_ADDRESSES:
        return True
    allowed = bool(libc.personality(ctypes.c_ulong(now | _NO_RANDOM_ADDRESSES)) >= 0)
    if allowed:
        libc.personality(ctypes.c_ulong(now))
    return allowed


def _personality() -> int:
    with open(_PERSONALITY) as file:
        return int(file.read(), 16)


# Kernels since 6.13 keep the small program that runs those of the guest in a memfd (arch/um/os-Linux/skas/process.c). A
# host can refuse memfds that may be executed: vm.memfd_noexec in Documentation/admin-guide/sysctl/vm.rst.
REFUSED = "programs in memory are refused (vm.memfd_noexec = 2)"
REFUSED_ADVICE = "as root: sysctl vm.memfd_noexec=1"

_MFD_EXEC = 0x10  # since Linux 6.3; before, every memfd may be executed


def memory_is_executable() -> bool:
    """Return whether the host makes memfds that may be executed."""
    try:
        os.close(os.memfd_create("wblab-execution", os.MFD_CLOEXEC | _MFD_EXEC))
    except OSError as error:
        return error.errno != errno.EACCES
    return True
