"""Limits that a shell or a login sets for each process, where a run needs more. See ulimit(1), getrlimit(2)."""

import resource
from collections.abc import Callable

from wblab.core.errors import InputError
from wblab.core.units import format_bytes

_DESCRIPTORS = 128  # what the kernel's process and the one that starts it have open, with room


def check(largest_bytes: int, limit: Callable[[int], tuple[int, int]] = resource.getrlimit) -> None:
    """Raise InputError if a run cannot have its largest file, or as many open files as it needs.

    limit: returns the soft and the hard limit of a resource.
    """
    files = limit(resource.RLIMIT_FSIZE)[0]
    if files != resource.RLIM_INFINITY and files < largest_bytes:
        raise InputError(
            f"a file may have at most {format_bytes(files)} in this shell (ulimit -f), the run needs "
            f"{format_bytes(largest_bytes)}: ulimit -f unlimited"
        )
    descriptors = limit(resource.RLIMIT_NOFILE)[0]
    if descriptors != resource.RLIM_INFINITY and descriptors < _DESCRIPTORS:
        raise InputError(
            f"a program may have only {descriptors} files open in this shell (ulimit -n), the run needs "
            f"{_DESCRIPTORS}: ulimit -n 1024"
        )
