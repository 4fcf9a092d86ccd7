"""File times that follow content: what make would compile again."""

import os
import shutil
from pathlib import Path

import pytest

from wblab.kernels.times import settle


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tree/mm").mkdir(parents=True)
    for name in ("a.c", "mm/b.c"):
        (tmp_path / "tree" / name).write_text(name)
    (tmp_path / "tree/link").symlink_to("a.c")
    return tmp_path


def times_ns(place: Path) -> dict[str, int]:
    settle(place / "tree", place / "times.json")
    return {name: os.lstat(place / "tree" / name).st_mtime_ns for name in ("a.c", "mm/b.c", "link")}


def test_a_file_keeps_its_time_until_its_content_changes(place: Path) -> None:
    first = times_ns(place)
    assert len(set(first.values())) == 1
    shutil.copytree(place / "tree", place / "again", symlinks=True)  # a checkout writes new files
    shutil.rmtree(place / "tree")
    (place / "again").rename(place / "tree")
    assert times_ns(place) == first
    (place / "tree/mm/b.c").write_text("changed")
    os.utime(place / "tree/mm/b.c", (1, 1))  # as git does not, and as a patch's own time may be
    second = times_ns(place)
    assert second["mm/b.c"] > first["mm/b.c"]
    assert [second[name] for name in ("a.c", "link")] == [first[name] for name in ("a.c", "link")]


def test_content_that_comes_back_is_new_again(place: Path) -> None:
    """An object file is that of the content between."""
    first = times_ns(place)
    (place / "tree/a.c").write_text("between")
    between = times_ns(place)
    (place / "tree/a.c").write_text("a.c")
    assert times_ns(place)["a.c"] > between["a.c"] > first["a.c"]


def test_a_link_to_another_file_and_a_file_that_was_away_are_new(place: Path) -> None:
    first = times_ns(place)
    (place / "tree/link").unlink()
    (place / "tree/a.c").rename(place / "a.c")
    (place / "tree/link").symlink_to("mm/b.c")
    settle(place / "tree", place / "times.json")
    (place / "a.c").rename(place / "tree/a.c")
    second = times_ns(place)
    assert second["link"] > first["link"]
    assert second["a.c"] > first["a.c"]
    assert second["mm/b.c"] == first["mm/b.c"]


def test_a_damaged_record_makes_all_files_new(place: Path) -> None:
    first = times_ns(place)
    (place / "times.json").write_text("{")
    assert all(time_ns > first[name] for name, time_ns in times_ns(place).items())
