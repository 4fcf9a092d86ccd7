"""Kernel builds that were killed. The next build of the same kernel removes their trees and objects."""

from pathlib import Path

from wblab.kernels import cache
from wblab.lab.results import is_held, size_bytes


def unfinished() -> list[tuple[Path, int]]:
    """Return the directories of unfinished builds, with their sizes in bytes, except builds in progress."""
    found: list[tuple[Path, int]] = []
    for path in sorted(cache.home().glob("**/*.work")):
        if path.is_dir() and not path.is_symlink() and not is_held(path.with_name(f"{path.name}.lock")):
            found.append((path, size_bytes(path)))
    return found
