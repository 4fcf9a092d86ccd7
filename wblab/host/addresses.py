"""Whether a guest's kernel has the same addresses in each run.

It takes the gap between its data and its heap for memory. With random addresses that is up to 1 GiB, another in each
run: some guests exceed their limits as they start, and no run repeats. So the kernel switches the randomization off for
itself (personality(2)). Seccomp profiles of containers refuse the call; but a container inherits what started it.
"""

import ctypes

from wblab.core.syscalls import libc

RANDOM = "random: some guests do not start, and no run repeats"
ADVICE = "in a container: 'setarch --addr-no-randomize podman run ...', or a profile that allows personality(2)"

_NO_RANDOM_ADDRESSES = 0x0040000
_PERSONALITY = "/proc/self/personality"


def are_fixed() -> bool:
    """Return whether addresses are the same in each run, or a program may have it so."""
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
