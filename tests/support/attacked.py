"""What every test with hostile inputs checks: no hang, no control characters, no other file touched."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LIMIT_S = 120  # of one case, that would be a hang: the slowest takes two
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class HungError(BaseException):
    """A case took too long."""


@contextmanager
def limited() -> Iterator[None]:
    """Raise HungError if the block takes too long."""

    def late(number, frame):
        raise HungError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def state(folder: Path) -> dict[str, tuple]:
    """Return the contents of a folder, with everything that a write would change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        said = path.lstat()
        found[str(path)] = (said.st_mode, said.st_size, said.st_mtime_ns, said.st_nlink)
    return found
