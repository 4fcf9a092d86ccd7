"""The scratch directory of a run, removed whatever a guest has made in it."""

import os
from pathlib import Path


def remove_scratch(directory: Path) -> None:
    """Remove a directory with all that is in it; it may be gone already.

    By rm(1): directories of a guest can be nested deeper than Python goes down, and than a path can be long.
    """
    if directory.exists():
        os.waitpid(os.posix_spawnp("rm", ["rm", "-rf", "--", str(directory)], {"PATH": os.defpath}), 0)
