import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support.patchtexts import PATCH, SECOND

from wblab.core.errors import WblabError
from wblab.kernels import patches
from wblab.kernels import tree as trees
from wblab.kernels.patches import PatchFile

Read = Callable[..., list[patches.Patch]]
NEW = "--- /dev/null\n+++ b/new/moon.c\n@@ -0,0 +1 @@\n+moon\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def make(*texts: str) -> list[patches.Patch]:
        paths = [tmp_path / f"000{number}.patch" for number, _ in enumerate(texts, start=1)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return [patches.read(PatchFile(path.name, path)) for path in paths]

    return make


def test_patches_apply_in_order_and_leave_the_original_alone(tree: Path, tmp_path: Path, read: Read) -> None:
    copy = tmp_path / "copy"
    trees.copy(tree, trees.files(tree), copy)
    given = read(PATCH, SECOND, NEW)
    patches.push(copy, given, "here")
    assert "return 2" in (copy / "hello.c").read_text()
    assert (copy / "new/moon.c").read_text() == "moon\n"
    assert "return 0" in (tree / "hello.c").read_text()
    assert sorted(path.name for path in copy.iterdir()) == ["Makefile", "arch", "hello.c", "new"]
    assert given[2].touches == ("new/moon.c",)


@pytest.mark.parametrize("way", ["b//{out}", "b/../{name}/file", "b/out/file", "b/link"])
def test_no_patch_touches_what_is_outside_of_the_tree(tree: Path, tmp_path: Path, read: Read, way: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x\n")
    os.utime(outside / "file", ns=(1, 1))
    (tree / "out").symlink_to(outside)
    (tree / "link").symlink_to(outside / "file")
    named = way.format(out=outside / "file", name=f"../{outside.name}")
    text = f"{PATCH}\n--- a/none\n+++ {named}\n"
    given = read(text)
    assert all(patches.is_inside(name) for name in given[0].touches)
    with suppress(WblabError):
        patches.push(tree, given, "here")
    assert (outside / "file").stat().st_mtime_ns == 1


def test_a_patch_that_does_not_apply_names_file_and_hunk(tree: Path, read: Read) -> None:
    (tree / "hello.c").write_text("something\nelse\n")
    with pytest.raises(WblabError, match=r"0001\.patch does not apply to linux 7: hunk 1 of hello\.c \(line 1\)"):
        patches.push(tree, read(PATCH), "linux 7")


def test_a_patch_for_a_missing_file_names_it(tree: Path, read: Read) -> None:
    (tree / "hello.c").unlink()
    with pytest.raises(WblabError, match=r"there is no hello\.c"):
        patches.push(tree, read(PATCH), "linux 7")


def test_an_already_applied_patch_is_an_error_unless_popped(tree: Path, read: Read) -> None:
    given = read(PATCH, SECOND)
    patches.push(tree, given, "here")
    with pytest.raises(WblabError):
        patches.push(tree, given, "here")


def test_popping_reverts_applied_patches(tree: Path, read: Read) -> None:
    given = read(PATCH, SECOND)
    assert patches.pop(tree, given) == ()
    patches.push(tree, given[:1], "here")
    assert patches.pop(tree, given) == ("0001.patch",)
    patches.push(tree, given, "here")
    assert patches.pop(tree, given) == ("0002.patch", "0001.patch")
    assert "return 0" in (tree / "hello.c").read_text()
