"""Objects that the next build takes: what make would compile again, and when a build has to be whole."""

import os
import shutil
import time
from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.kernels.objects import KEPT, Objects

FILES = {
    "Makefile": "all:",
    "mm/Makefile": "obj-y := b.o",
    "mm/b.c": "int b;",
    "mm/b.h": "int b;",
    "mm/Kconfig": "config B",
    "drivers/built/Makefile": "obj-y := c.o",
    "drivers/other/Makefile": "obj-y := d.o",
    "scripts/fixdep.c": "int main;",
    "Documentation/b.rst": "b",
}
CONFIG = "CONFIG_B=y\n# CONFIG_C is not set\n"


def checkout(place: Path, changes: dict[str, str | None]) -> Path:
    """Write the small tree anew, as a build copies and patches it."""
    tree = place / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    lead = changes.pop("mm/l.h", "b.h")
    for name, text in (FILES | changes).items():
        if text is not None:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
            os.utime(tree / name, (1, 1))  # as a patch's own time may be
    (tree / "mm/l.h").symlink_to(str(lead))
    return tree


def make(objects: Objects, text: str = "") -> None:
    """Do what make does: write objects into the folder."""
    (objects.folder / "drivers/built").mkdir(parents=True, exist_ok=True)
    (objects.folder / ".config").write_text(CONFIG)
    (objects.folder / "b.o").write_text(text)


def build(place: Path, surroundings: str = "gcc 1", **changes: str | None) -> str:
    """Build once; return why the build was whole."""
    objects = Objects(place, surroundings)
    why = objects.take(checkout(place, changes))
    make(objects)
    objects.check()
    objects.keep()
    return why


def newest_ns(folder: Path) -> int:
    return max(path.lstat().st_mtime_ns for path in folder.rglob("*") if not path.is_dir())


def time_ns(place: Path, name: str) -> int:
    return (place / "tree" / name).lstat().st_mtime_ns


def test_the_next_build_takes_the_objects_and_sees_what_changed(tmp_path: Path) -> None:
    assert build(tmp_path) == "no objects are kept"
    first_ns = newest_ns(tmp_path / KEPT)
    assert build(tmp_path, **{"mm/b.c": "int other;", "mm/l.h": "b.c"}) == ""
    assert time_ns(tmp_path, "mm/b.c") > first_ns
    assert time_ns(tmp_path, "mm/l.h") > first_ns
    assert time_ns(tmp_path, "mm/b.h") == time_ns(tmp_path, "Makefile") <= first_ns
    second_ns = time_ns(tmp_path, "mm/b.c")
    assert build(tmp_path) == ""
    assert time_ns(tmp_path, "mm/b.c") > second_ns  # content that comes back is new again


def test_what_is_kept_stays_until_the_next_build_has_succeeded(tmp_path: Path) -> None:
    build(tmp_path)
    killed = Objects(tmp_path, "gcc 1")
    assert killed.take(checkout(tmp_path, {"mm/b.c": "broken"})) == ""
    make(killed, "half an object")
    again = Objects(tmp_path, "gcc 1")
    assert again.take(checkout(tmp_path, {})) == ""
    assert (again.folder / "b.o").read_text() == ""
    again.drop()
    assert {path.name for path in tmp_path.iterdir()} == {KEPT, "tree"}


@pytest.mark.parametrize("stopped", ["before", "between"])
def test_a_build_that_is_killed_while_it_keeps_its_objects_leaves_the_old_ones_or_none(tmp_path: Path, stopped) -> None:
    build(tmp_path)
    (tmp_path / KEPT).rename(tmp_path / ("old" if stopped == "between" else "objects"))
    assert build(tmp_path) == "no objects are kept"
    assert build(tmp_path) == ""
    assert {path.name for path in tmp_path.iterdir()} == {KEPT, "tree"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"mm/c.h": ""}, "mm/c.h was added"),
        ({"mm/c.c": ""}, "mm/c.c was added"),
        ({"mm/b.h": None}, "mm/b.h was removed"),
        ({"mm/Makefile": "obj-y := b.o a.o"}, "mm/Makefile has changed"),
        ({"drivers/built/Makefile": ""}, "drivers/built/Makefile has changed"),
        ({"scripts/fixdep.c": "int main"}, "scripts/fixdep.c has changed"),
        ({"surroundings": "gcc 2"}, "the compiler, another tool or a header of the system has changed"),
        ({"drivers/other/Makefile": "", "drivers/other/d.h": ""}, ""),
        ({"mm/Kconfig": "config C", "Documentation/b.rst": "c", "arch/arm/a.h": "", ".gitignore": ""}, ""),
    ],
)
def test_a_build_is_whole_where_make_may_not_see_a_change(tmp_path: Path, changes: dict[str, str], why: str) -> None:
    build(tmp_path)
    assert build(tmp_path, **changes) == why


def test_another_configuration_is_built_whole(tmp_path: Path) -> None:
    build(tmp_path)
    objects = Objects(tmp_path, "gcc 1")
    objects.take(checkout(tmp_path, {}))
    assert objects.configured(f"# other words\n{CONFIG}")
    assert not objects.configured(f"{CONFIG}CONFIG_C=y\n")
    assert not objects.folder.exists()
    assert objects.configured(f"{CONFIG}CONFIG_C=y\n")  # as nothing is taken any more


def test_a_clock_that_was_set_back_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path)
    now_ns = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now_ns() - 3600 * 10**9)
    objects = Objects(tmp_path, "gcc 1")
    assert objects.take(checkout(tmp_path, {})) == "the objects are newer than the clock"
    objects.check()
    monkeypatch.setattr(time, "time_ns", now_ns)
    assert objects.take(checkout(tmp_path, {})) == ""
    monkeypatch.setattr(time, "time_ns", lambda: now_ns() - 3600 * 10**9)
    with pytest.raises(WblabError, match="the clock was set back while the kernel was built: build it again"):
        objects.check()


def test_a_damaged_record_makes_a_build_whole(tmp_path: Path) -> None:
    build(tmp_path)
    (tmp_path / KEPT / "wblab.json").write_text("{")
    assert build(tmp_path) == "no objects are kept"
