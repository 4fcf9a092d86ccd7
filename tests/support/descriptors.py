"""Open descriptors of the tests' own process."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_stays_open() -> Iterator[None]:
    """Check that what is done meanwhile leaves no descriptor open.

    What another test forgot, and Python's garbage collection closes meanwhile, does not count.
    """
    gc.collect()
    before = _opened()
    yield
    left = _opened() - before
    assert not left, f"left open: {sorted(left)}"


def _opened() -> set[str]:
    return set(os.listdir("/proc/self/fd"))
