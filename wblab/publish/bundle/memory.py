"""A bound on memory while somebody else's file is read: its traces may hold more events than fit."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wblab.core.errors import InputError
from wblab.host.machine import available_memory_bytes
from wblab.report.quantities import size

_SHARE = 0.75  # of what is available: others need memory, too


@contextmanager
def bounded_memory(what: str) -> Iterator[None]:
    """Let the block take three quarters of the free memory. Raises InputError, which names `what`, if it needs more.

    A reader may have called it damaged because it had no memory; so causes of an InputError are looked at, too.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    room = int(available_memory_bytes() * _SHARE)
    limits = [_data_bytes() + room, *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    except (MemoryError, InputError) as error:
        if not _is_of_memory(error):
            raise
        raise InputError(
            f"{what} takes more than {size(room)} of memory, three quarters of what is free here: end other programs, "
            f"or read it on a larger machine"
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _is_of_memory(error: BaseException | None) -> bool:
    while error and not isinstance(error, MemoryError):
        error = error.__context__
    return error is not None


def _data_bytes() -> int:
    """Return what RLIMIT_DATA counts of this process: proc_pid_statm(5), `data`."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
