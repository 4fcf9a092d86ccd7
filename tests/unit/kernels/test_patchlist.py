"""Series files: what they list, in which order, and what is refused. The lab's own are checked for completeness."""

import hashlib
from pathlib import Path

import pytest

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.kernels import catalog, patches
from wblab.kernels.patches import PatchFile
from wblab.lab.places import LINUX_UML


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
