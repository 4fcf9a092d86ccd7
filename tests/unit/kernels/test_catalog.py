from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels import catalog
from wblab.kernels.patchlist import PatchFile
from wblab.kernels.recipe import recipe


def test_the_lab_s_catalog_is_valid() -> None:
    known = catalog.load()
    assert known.default == "7.2"
    assert [series.name for series in known.series] == ["7.3", "7.2", "6.12", "6.1"]


def test_an_unknown_series_is_refused_with_the_known_ones(lab: Path) -> None:
    with pytest.raises(InputError, match=r"no kernel '7\.4' .did you mean '7\.3'\?.: give 7\.3, 7\.2, or"):
        catalog.load(lab).find("7.4")


@pytest.mark.parametrize(("version", "series"), [("7.3", "7.3"), ("7.10", "7.3"), ("7.2", "7.2"), ("6.12", "7.2")])
def test_a_tree_without_patches_of_its_own_takes_the_nearest_older_ones(lab: Path, version: str, series: str) -> None:
    assert catalog.load(lab).patch_series(version) == series


def test_a_series_file_is_sufficient(lab: Path) -> None:
    (lab / "series/7.4").touch()
    known = catalog.load(lab)
    assert known.patch_series("7.4") == "7.4"
    assert known.patches("7.4") == ()


@pytest.fixture
def variants(lab: Path) -> Path:
    """A lab with three variants: `one` fits both series, `two` needs the newer one, `three` has two versions."""
    for path in ("one/7.2", "two/7.3", "three/7.3", "three/7.2"):
        file = lab / "variants" / f"{path}.patch"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    return lab


def test_a_variant_is_its_series_with_one_more_patch(variants: Path) -> None:
    known = catalog.load(variants)
    assert known.variants("7.3") == ["one", "three", "two"]
    assert known.find("7.3+two+one").plain == "7.3"
    assert known.find("7.3+two+one").package == known.find("7.3").package
    more = [PatchFile("7.3.patch", variants / f"variants/{path}.patch") for path in ("two/7.3", "one/7.2")]
    assert known.patches("7.3+two+one") == (*known.patches("7.3"), *more)
    assert recipe("7.3+one", known).digest != recipe("7.3", known).digest
    assert recipe("7.3+one", known).steps == recipe("7.3", known).steps


def test_a_variant_has_the_form_of_its_series_or_of_the_nearest_older_one(variants: Path) -> None:
    known = catalog.load(variants)
    assert known.variants("7.2") == ["one", "three"]
    for name, variant, form in (("7.3", "three", "7.3"), ("7.2", "three", "7.2"), ("7.3", "one", "7.2")):
        assert known.variant(variant, name) == PatchFile(f"{name}.patch", variants / f"variants/{variant}/{form}.patch")


def test_an_empty_form_ends_a_variant(variants: Path) -> None:
    (variants / "variants/one/7.3.patch").write_text("")
    assert catalog.load(variants).variants("7.2") == ["one", "three"]
    assert catalog.load(variants).variants("7.3") == ["three", "two"]


def test_variants_are_not_used_as_fallback_series(variants: Path) -> None:
    assert [series.name for series in catalog.load(variants).from_default()] == ["7.3", "7.2"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("7.2+two", r"no variant 'two' of the kernel 7\.2: give one, three"),
        ("7.3+ones", r"no variant 'ones' of the kernel 7\.3 .did you mean 'one'.*: give one, three, two"),
        ("7.3+", r"no variant '' of the kernel 7\.3"),
        ("7.3+../one", r"no variant '../one' of the kernel 7\.3"),
        ("7.4+one", r"no kernel '7\.4\+one' .did you mean '7\.3'"),
    ],
)
def test_an_unknown_variant_is_refused_with_the_known_ones(variants: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        catalog.load(variants).find(name)


def test_the_lab_s_variants_exist_for_each_series() -> None:
    known, before_or_after = catalog.load(), {"meta-priority", "no-meta-priority"}  # one puts in what the other undoes
    for series in known.series:
        offered = set(known.variants(series.name))
        assert offered - before_or_after == set(known.variants(known.default)) - before_or_after
        assert len(offered & before_or_after) == 1


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
