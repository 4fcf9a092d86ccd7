import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support.patchtexts import PATCH, SECOND

from wblab.cli import main
from wblab.core.errors import InputError, WblabError
from wblab.kernels import catalog, patches
from wblab.kernels import sourcetree as trees
from wblab.kernels.patches import Forms, PatchFile, forms, nearest_first, numbered, order
from wblab.lab.places import LINUX_UML

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three patches, one of them in two versions."""
    for name in ("moon", "stars", "sun", "sun@6.1"):
        (tmp_path / f"{name}.patch").write_text(name)
    return tmp_path


def listed(folder: Path, text: str) -> tuple[PatchFile, ...]:
    (folder / "7.3").write_text(text)
    return patches.read_series(folder / "7.3", folder)


def test_patches_are_ordered_and_numbered_by_the_series_file(folder: Path) -> None:
    found = listed(folder, "# first\nsun@6.1.patch\n\n   # of 6.1\nmoon.patch  # a reason\nstars.patch\n")
    assert [file.name for file in found] == ["0001-sun.patch", "0002-moon.patch", "0003-stars.patch"]
    assert [file.path.name for file in found] == ["sun@6.1.patch", "moon.patch", "stars.patch"]


@pytest.mark.parametrize("text", ["", "# nothing\n", "\n\n"])
def test_a_series_may_have_no_patches(folder: Path, text: str) -> None:
    assert listed(folder, text) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("moon.patch\nmon.patch\n", r"7\.3, line 2: no patch 'mon\.patch' in .* .did you mean 'moon\.patch'.*: add it"),
        ("moon.patch\nsun@7.2.patch\n", r"line 2: no patch 'sun@7\.2\.patch' in"),
        ("moon.patch -p0\n", r"line 1: 'moon\.patch -p0' is no name of a patch: give one NAME\.patch per line"),
        ("moon.patch stars.patch\n", "line 1: 'moon.patch stars.patch' is no name of a patch"),
        ("moon\n", "line 1: 'moon' is no name of a patch"),
        ("../moon.patch\n", "line 1: '../moon.patch' is no name of a patch"),
        ("sun@.patch\n", "line 1: 'sun@.patch' is no name of a patch"),
        ("moon.patch\n# again\nmoon.patch\n", r"line 3: 'moon\.patch' is listed twice: remove one of the lines"),
    ],
)
def test_a_missing_patch_or_a_stray_line_is_named(folder: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        listed(folder, text)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("tools")
def test_the_user_sees_one_line_and_exit_code_2(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (lab / "series/7.3").write_text("helo.patch\n")
    assert main(["kernel", "list"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "series/7.3, line 1: no patch 'helo.patch'" in error
    assert "did you mean 'hello.patch'?" in error


def test_a_series_without_its_file_is_named(folder: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*7\.4: No such file or directory; list the patches there"):
        patches.read_series(folder / "7.4", folder)


def test_every_patch_of_the_lab_is_listed_and_none_is_duplicated() -> None:
    known = catalog.load()
    used = {file.path for series in known.series for file in known.patches(series.name)}
    stems = {file.stem for series in known.series for file in known.patches(series.name)}
    for file in set((LINUX_UML / "patches").iterdir()) - used:  # a form for a release between two series
        assert patches.stem(file) in stems
        assert not known.lists_patches(file.stem.rpartition("@")[2])
    stored = [*used, *(LINUX_UML / "variants").glob("*/*")]
    assert len({hashlib.sha256(path.read_bytes()).hexdigest() for path in stored}) == len(stored)


def test_every_series_file_of_the_lab_belongs_to_a_series() -> None:
    assert {path.name for path in (LINUX_UML / "series").iterdir()} == {series.name for series in catalog.load().series}


def test_a_version_of_a_patch_is_used_by_the_series_it_is_named_after() -> None:
    known = catalog.load()
    for file in (LINUX_UML / "patches").glob("*@*"):
        if known.lists_patches(version := file.stem.rpartition("@")[2]):
            assert file in [patch.path for patch in known.patches(version)]


def test_every_optional_patch_of_the_lab_exists() -> None:
    known = catalog.load()
    assert set(known.optional) <= {patches.stem(file) for file in (LINUX_UML / "patches").iterdir()}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("6.1", ["6.1", "6.12", "7.2", "7.3"]),
        ("6.6", ["6.1", "6.12", "7.2", "7.3"]),
        ("7.1", ["6.12", "6.1", "7.2", "7.3"]),
        ("7.9", ["7.3", "7.2", "6.12", "6.1"]),
        ("5.10", ["6.1", "6.12", "7.2", "7.3"]),
    ],
)
def test_older_series_are_nearer_than_newer_ones(version: str, expected: list[str]) -> None:
    assert nearest_first(version, ["7.3", "6.1", "7.2", "6.12"]) == expected


def test_a_patch_that_only_an_older_series_has_follows_its_predecessor() -> None:
    assert order([["sun", "moon", "stars"], ["sun", "rain", "moon"]]) == ["sun", "rain", "moon", "stars"]
    assert order([["moon"], ["sun", "moon", "rain"], ["wind", "rain"]]) == ["wind", "sun", "moon", "rain"]


def test_the_order_of_the_lab_is_that_of_each_of_its_series() -> None:
    known = catalog.load()
    merged = [one.name for version in ("6.6", "7.1", "7.2", "7.3") for one in known.forms(version)]
    assert merged
    for version in ("6.6", "7.1", "7.2"):
        names = [one.name for one in known.forms(version)]
        for series in known.series:
            listed = [file.stem for file in known.patches(series.name) if file.stem in names]
            assert listed == [name for name in names if name in listed]


@pytest.fixture
def series(tmp_path: Path) -> dict[str, tuple[PatchFile, ...]]:
    """Three series and a form for a release between them."""
    (tmp_path / "sun@6.8.patch").touch()
    lists = {"6.1": ["sun@6.1", "rain"], "6.12": ["sun", "moon", "stars"], "7.2": ["sun", "moon@7.2"]}
    return {name: numbered(tmp_path / f"{file}.patch" for file in files) for name, files in lists.items()}


def wanted(series: dict[str, tuple[PatchFile, ...]], version: str, folder: Path) -> list[tuple[str, list[str], bool]]:
    return [
        (one.name, [path.stem for path in one.paths], one.needed) for one in forms(version, series, folder, {"moon"})
    ]


def test_a_patch_is_needed_if_the_series_on_both_sides_have_it(
    series: dict[str, tuple[PatchFile, ...]], tmp_path: Path
) -> None:
    assert wanted(series, "6.6", tmp_path) == [
        ("sun", ["sun@6.1", "sun@6.8", "sun"], True),
        ("rain", ["rain"], False),
        ("moon", ["moon", "moon@7.2"], False),
        ("stars", ["stars"], False),
    ]
    assert wanted(series, "7.2", tmp_path) == [
        ("sun", ["sun", "sun@6.8", "sun@6.1"], True),
        ("moon", ["moon@7.2", "moon"], False),
    ]
    assert [name for name, _, _ in wanted(series, "6.12", tmp_path)] == ["sun", "moon", "stars"]


def test_forms_of_a_patch_with_a_longer_name_are_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "sun-shine@6.8.patch").touch()
    listed = {"7.2": numbered([tmp_path / "sun.patch"])}
    assert forms("7.2", listed, tmp_path, ()) == [Forms("sun", (tmp_path / "sun.patch",), needed=True)]


def test_a_form_may_need_another_patch(tmp_path: Path) -> None:
    sun, moon = tmp_path / "sun.patch", tmp_path / "moon.patch"
    listed = {"7.2": (PatchFile("0001-moon.patch", moon), PatchFile("0002-sun.patch", sun))}
    found = forms("7.2", listed, tmp_path, requires={"sun.patch": "moon"})
    assert [one.requires for one in found] == [{}, {sun: "moon"}]


def test_the_labs_requirements_name_patches_of_the_lab() -> None:
    known = catalog.load()
    files = {path.name for path in (known.folder / "patches").glob("*.patch")}
    assert set(known.requires) <= files
    assert {f"{name}.patch" for name in (*known.requires.values(), *known.optional)} <= files
