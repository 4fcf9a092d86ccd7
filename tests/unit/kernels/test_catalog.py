from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels import catalog


def test_the_catalog_of_the_lab() -> None:
    known = catalog.load()
    assert known.default == "7.2"
    assert [series.name for series in known.series] == ["7.3", "7.2", "6.12", "6.1"]


def test_an_unknown_series_comes_with_the_known_ones(lab: Path) -> None:
    with pytest.raises(InputError, match=r"no kernel '7\.4' .did you mean '7\.3'\?.: give 7\.3, 7\.2, or"):
        catalog.load(lab).find("7.4")


@pytest.mark.parametrize(("version", "series"), [("7.3", "7.3"), ("7.10", "7.3"), ("7.2", "7.2"), ("6.12", "7.2")])
def test_a_tree_without_patches_of_its_own_takes_the_nearest_older_ones(lab: Path, version: str, series: str) -> None:
    assert catalog.load(lab).patch_series(version) == series


def test_a_folder_of_patches_is_enough(lab: Path) -> None:
    (lab / "patches/7.4").mkdir()
    assert catalog.load(lab).patch_series("7.4") == "7.4"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('default = "7.3"', 'default = "8.0"', "no kernel '8.0'"),
        ('default = "7.3"\n', "", "'default' is missing"),
        ("steps", "stops", "'steps' is missing"),
        ("[[series]]", "[[series", "kernels.toml"),
    ],
)
def test_a_broken_catalog_names_the_file_and_the_key(lab: Path, old: str, new: str, message: str) -> None:
    path = lab / "kernels.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        catalog.load(lab)
