"""What another user, or oneself, has closed: root is an ordinary user for a while, for whom modes count."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.swapped import NOBODY


@contextmanager
def room() -> Iterator[Path]:
    """Yield a directory that an ordinary user may enter and write to, who need not be us."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        path = Path(place)
        path.chmod(0o777)
        try:
            yield path
        finally:
            for each in path.rglob("*"):
                if each.is_dir() and not each.is_symlink():
                    each.chmod(0o700)


@contextmanager
def as_ordinary_user() -> Iterator[None]:
    """Be an ordinary user, if we are root: nothing opens a file of mode 000 then."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
