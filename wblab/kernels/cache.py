"""The cache of sources and built kernels: where it is, small JSON files in it, and who may write what."""

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
    """Return the folder of everything that can be made again: `$XDG_CACHE_HOME/wblab`, or `~/.cache/wblab`."""
    # The XDG specification: a relative path is invalid and counts as unset.
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "wblab"


def room(*parts: str) -> Path:
    """Return a folder below the cache and make sure that it exists. Raises WblabError."""
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
    """Raise WblabError for a cache in which another user could have put something: what is in it runs here."""
    folder = home()
    if not folder.exists():
        return
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise WblabError(f"{folder} belongs to another user: set XDG_CACHE_HOME to a folder of yours")
    if status.st_mode & 0o022:
        raise WblabError(f"others may write to {folder}: run {shlex.join(['chmod', 'go-w', str(folder)])!r}")


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the object in `path`, or None where there is none that can be read."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace `path` at once: a reader sees the old object or the new one."""
    staged = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}")  # runs side by side
    staged.write_text(json.dumps(value, indent=2) + "\n")
    staged.replace(path)


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file `path`; `waiting` is called once if another process holds it.

    The lock ends with the process, however that ends, so there are no stale ones to clear.
    """
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
