"""Which patches a tree between two series may need, in which forms and order."""

from pathlib import Path

import pytest

from wblab.kernels import catalog
from wblab.kernels.patches import Forms, PatchFile, forms, nearest_first, numbered, order


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
