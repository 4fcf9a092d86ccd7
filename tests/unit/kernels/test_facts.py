import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.kernels import facts


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all past changes count as long ago."""
    now_ns = time.time_ns
    monkeypatch.setattr(facts.time, "time_ns", lambda: now_ns() + 10**10)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("old")
    return path


class Finder:
    """Reads a file and counts how often."""

    def __init__(self, path: Path) -> None:
        self.path, self.times = path, 0

    def __call__(self) -> tuple[str, list[Path]]:
        self.times += 1
        return self.path.read_text(), [self.path]


def test_a_cached_fact_is_not_computed_again(file: Path, settled: None) -> None:
    find = Finder(file)
    assert [facts.fact("content", find) for _ in range(3)] == ["old"] * 3
    assert find.times == 1
    assert facts.recall("content") == "old"
    assert facts.recall("another") is None


def change_bytes(file: Path) -> None:
    file.write_text("new")


def change_bytes_and_put_the_time_back(file: Path) -> None:
    before = file.stat()
    file.write_text("new")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def put_another_in_its_place(file: Path) -> None:
    before = file.stat()
    other = file.with_name("other")
    other.write_text("new")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)


def point_elsewhere(file: Path) -> None:
    other = file.with_name("other")
    other.write_text("new")
    file.unlink()
    file.symlink_to(other)


@pytest.mark.parametrize(
    "change", [change_bytes, change_bytes_and_put_the_time_back, put_another_in_its_place, point_elsewhere]
)
def test_a_changed_file_is_a_new_file(file: Path, settled: None, change) -> None:
    find = Finder(file)
    facts.fact("content", find)
    time.sleep(0.02)  # more than a tick of the clock of file times
    change(file)
    assert facts.recall("content") is None
    assert facts.fact("content", find) == "new"


def test_facts_about_a_missing_file_are_discarded(file: Path, settled: None) -> None:
    digest = facts.sha256(file)
    assert facts.sha256(file) == digest
    file.unlink()
    with pytest.raises(FileNotFoundError):
        facts.sha256(file)


def test_facts_about_a_file_that_has_just_changed_are_not_cached(file: Path) -> None:
    find = Finder(file)
    facts.fact("content", find)
    file.write_text("new")  # may have the same size and, within a tick, the same times
    assert facts.fact("content", find) == "new"
    assert facts.recall("content") is None


def test_facts_about_a_file_that_changes_meanwhile_are_not_cached(file: Path) -> None:
    before = time.time_ns()
    os.utime(file, ns=(0, 0))

    def find() -> tuple[str, list[Path]]:
        said = file.read_text()
        file.write_text("new")
        return said, [file]

    assert facts.keep("content", find) == "old"
    assert file.stat().st_ctime_ns >= before - 10**9
    assert facts.recall("content") is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"files": [], "known": 1}', '{"files": {"/nowhere": []}, "known": 1}']
)
def test_unreadable_facts_are_ignored(file: Path, settled: None, cache_home: Path, text: str) -> None:
    facts.fact("content", Finder(file))
    (kept,) = (cache_home / "facts").iterdir()
    kept.write_text(text)
    assert facts.recall("content") is None
    assert facts.fact("content", Finder(file)) == "old"
    assert json.loads(kept.read_text())["known"] == "old"


def test_a_cache_writable_by_others_is_not_trusted(file: Path, settled: None, cache_home: Path) -> None:
    facts.fact("content", Finder(file))
    cache_home.chmod(0o777)
    with pytest.raises(WblabError, match="others may write to"):
        facts.recall("content")


def test_many_processes_may_compute_the_same_fact(file: Path, settled: None, cache_home: Path) -> None:
    def ask(_: int) -> str | None:
        facts.keep("content", lambda: ("old" * 10000, [file]))
        known: str | None = facts.recall("content")
        return known

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(200))) == {"old" * 10000}
    assert len(list((cache_home / "facts").iterdir())) == 1


def test_without_disk_space_a_fact_is_computed_again(
    file: Path, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(facts.cache, "write_json", full)
    find = Finder(file)
    assert [facts.fact("content", find) for _ in range(2)] == ["old"] * 2
    assert find.times == 2
