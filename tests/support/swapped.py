"""Another user, who replaces names in directories of his own by links to root's, while root works there."""

import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from wblab.core.child import fork_child
from wblab.machine.processes import end_with

NOBODY = 65534


@contextmanager
def areas(theirs: Sequence[str], bait: Sequence[str]) -> Iterator[Path]:
    """Yield a directory with `theirs`, another user's, and `roots`, root's, which has files to overwrite (bait)."""
    if os.geteuid():
        pytest.skip("only root can be led by another user to what is not theirs: run the tests as root")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        for name in (".", "theirs", *(f"theirs/{name}" for name in theirs), "roots"):
            (path := Path(place, name)).mkdir(exist_ok=True)
            path.chmod(0o755)
            os.chown(path, *([NOBODY] * 2 if "theirs" in name else [0, 0]))
        for name in bait:
            Path(place, "roots", name).write_text("root's own\n")
        yield Path(place)


@contextmanager
def swapping(place: Path, within: Sequence[str], only: Sequence[str] = ()) -> Iterator[None]:
    """Keep replacing names in directories below theirs (`within`) by links to roots, and restoring them.

    only: the names that are replaced in the directory `.`.
    """
    parent = os.getpid()

    def attack() -> None:
        end_with(parent)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        while True:
            for name in within:
                for path in Path(place, "theirs", name).iterdir():
                    if name != "." or path.name in only:
                        _swap(path, place / "roots")
            time.sleep(0.0005)

    pid = fork_child(attack)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _swap(path: Path, target: Path) -> None:
    aside = path.with_name(f"aside-{path.name}")
    with suppress(OSError):
        if path.is_symlink():
            path.unlink()
            aside.rename(path)
        elif not path.name.startswith("aside-"):
            path.rename(aside)
            path.symlink_to(target)


def state(directory: Path) -> dict[str, tuple[int, ...]]:
    """Return everything that could be changed in a directory."""
    return {
        str(path): (status.st_ino, status.st_mode, status.st_uid, status.st_mtime_ns, status.st_size)
        for path in [directory, *directory.rglob("*")]
        if (status := path.lstat())
    }
