"""The cache of sources and built kernels: its place, its permissions, its locks and its small JSON files."""

import fcntl
import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import Any

from wblab.core.errors import WblabError


def home() -> Path:
    """Return the folder for everything that can be rebuilt: `$XDG_CACHE_HOME/wblab`, or `~/.cache/wblab`."""
    # By the XDG specification a relative path is invalid and counts as unset.
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "wblab"


def room(*parts: str) -> Path:
    """Return a folder below the cache; create it if necessary. Raises WblabError."""
    folder = home().joinpath(*parts)
    try:
        home().parent.mkdir(parents=True, exist_ok=True)
        home().mkdir(mode=0o700, exist_ok=True)
        check_own()
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WblabError(f"cannot make {folder}: {error.strerror}; set XDG_CACHE_HOME to a writable folder") from None
    return folder


def check_own() -> None:
    """Raise WblabError if another user could write to the cache: programs in it run here."""
    folder = home()
    if not folder.exists():
        return
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise WblabError(f"{folder} belongs to another user: set XDG_CACHE_HOME to a folder of your own")
    if status.st_mode & 0o022:
        raise WblabError(f"others may write to {folder}: run {shlex.join(['chmod', 'go-w', str(folder)])!r}")


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in `path`, or None if it cannot be read."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace `path` in one step: a reader sees the old object or the new one."""
    staged = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}")  # runs may write at the same time
    staged.write_text(json.dumps(value, indent=2) + "\n")
    staged.replace(path)


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[int]:
    """Hold the lock file `path`; yield its descriptor. If another process holds it, call `waiting` once and wait.

    The lock ends with the process, and those that inherited the descriptor, however they end, so no lock becomes stale.
    """
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()
