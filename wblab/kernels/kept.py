"""What builds leave in the cache for the next one: object files by repository or source, and the kernels of commits."""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from wblab.kernels.kernel import Kernel
from wblab.lab import cache
from wblab.lab.results import is_held, size_bytes

# Kernel builds that were killed. The next build of the same kernel removes their trees and objects.


def unfinished() -> list[tuple[Path, int]]:
    """Return the directories of unfinished builds, with their sizes in bytes, except builds in progress."""
    found: list[tuple[Path, int]] = []
    for path in sorted(cache.home().glob("**/*.work")):
        if path.is_dir() and not path.is_symlink() and not is_held(path.with_name(f"{path.name}.lock")):
            found.append((path, size_bytes(path)))
    return found


MOST_BYTES = 5 << 30  # a kernel has 15 MB; the objects of one source have some hundred
_REST_S = 86400  # what was used within a day may be in use, or needed to resume
_MARK = "bisection"  # a file in the folder of a built kernel; its time is that of the last use


@dataclass(frozen=True)
class KeptBuild:
    """A folder that a bisection, or the build of a tree or of a patched kernel, has left."""

    path: Path
    size_bytes: int
    used_s: float  # time of the last use


def mark_used(kernel: Kernel, description: str) -> None:
    """Note that a bisection has used a kernel now, if a bisection built it, under this description of its source."""
    if kernel.source == description:
        (kernel.path.parent / _MARK).touch()


def kept() -> list[KeptBuild]:
    """Return what was left and is not used now, last used first."""
    folders = [path for name in ("bisect", "objects") for path in (cache.home() / name).glob("*")]
    rooms = [path for path in folders if path.is_dir() and not path.is_symlink()]
    idle = [path for path in rooms if not is_held(path.with_suffix(".lock"))]
    found = [KeptBuild(path, size_bytes(path), path.stat().st_mtime) for path in idle]
    for mark in (cache.home() / "builds").glob(f"*/{_MARK}"):
        found.append(KeptBuild(mark.parent, size_bytes(mark.parent), mark.stat().st_mtime))
    return sorted(found, key=lambda one: one.used_s, reverse=True)


def prune(most_bytes: int = MOST_BYTES) -> list[Path]:
    """Remove what is empty, and what was not used for longest until the rest fits; nothing used within a day."""
    removed: list[Path] = []
    total = 0
    for one in kept():
        total += one.size_bytes
        if (total > most_bytes or not one.size_bytes) and time.time() - one.used_s > _REST_S:
            shutil.rmtree(one.path, ignore_errors=True)
            removed.append(one.path)
    return removed
