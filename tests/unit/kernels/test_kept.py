"""What bisections keep in the cache, and what is removed of it."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from wblab.cli import main
from wblab.kernels.kept import kept, mark_used, prune
from wblab.kernels.kernel import Kernel
from wblab.lab import cache

DAY_S = 86400
KERNEL = Kernel(Path(), None, "7.3", "7.3.0", "", (), "id", "linux (abc)", "gcc")


def built(name: str, age_days: float, description: str = "linux (abc)") -> Path:
    """Make a built kernel of 64 KiB that a bisection used some days ago."""
    folder = cache.room("builds", name)
    (folder / "linux").write_bytes(b"x" * 65536)
    mark_used(replace(KERNEL, path=folder / "linux"), description)
    age(folder / "bisection", age_days)
    return folder


def room(name: str, age_days: float) -> Path:
    """Make the objects of a repository, 64 KiB, and the lock of its bisections."""
    folder = cache.room("bisect", name)
    cache.room("bisect", name, "objects").joinpath("vmlinux.o").write_bytes(b"x" * 65536)
    folder.with_suffix(".lock").touch()
    age(folder, age_days)
    return folder


def age(path: Path, days: float) -> None:
    if path.exists():
        os.utime(path, (time.time() - days * DAY_S,) * 2)


def test_what_was_not_used_for_longest_goes_first() -> None:
    old, objects, new = built("old", 9), room("objects", 5), built("new", 2)
    own = built("own", 20, "built by the user")
    assert [one.path for one in kept()] == [new, objects, old]
    assert prune(65536 * 2 + 8192) == [old]
    assert prune(65536 * 2 + 8192) == []
    assert prune(0) == [new, objects]
    assert (own / "linux").exists()
    assert kept() == []


def test_what_is_in_use_or_was_used_today_stays() -> None:
    objects, today = room("objects", 5), built("today", 0.5)
    with cache.locked(objects.with_suffix(".lock"), lambda: None):
        assert prune(0) == []
        assert [one.path for one in kept()] == [today]
    assert prune(0) == [objects]
    assert today.exists()


def test_an_empty_room_goes_also_where_all_fits() -> None:
    empty, fresh = cache.room("bisect", "empty"), cache.room("bisect", "fresh")
    age(empty, 2)
    objects = room("objects", 5)
    assert prune() == [empty]
    assert fresh.exists()
    assert objects.exists()


def test_clean_removes_all_that_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    found = [built("today", 0), room("objects", 1)]
    assert main(["runs", "--clean", "--bisections"]) == 0
    assert "2 entries" in capsys.readouterr().out
    assert all(path.exists() for path in found)
    assert main(["runs", "--clean", "--bisections", "--yes"]) == 0
    assert not any(path.exists() for path in found)
