"""The scratch directory of a run, removed whatever a guest has made in it."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path


def remove_scratch(directory: Path) -> None:
    """Remove a directory with all that is in it; it may be gone already.

    Directories of a guest can be nested deeper than Python can go down, and than a path can be long; rm(1) goes on.
    """
    with suppress(RecursionError):
        shutil.rmtree(directory, ignore_errors=True)
    if directory.exists():
        subprocess.run(["rm", "-rf", "--", str(directory)], stderr=subprocess.DEVNULL, check=False)
