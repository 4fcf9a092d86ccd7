from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.kernels import catalog, config
from wblab.kernels.choice import Choice
from wblab.kernels.identity import recipe, recipe_of_tree
from wblab.kernels.patches import PatchFile


def test_the_lab_s_catalog_is_valid() -> None:
    known = catalog.load()
    assert known.default == "7.2"
    assert [series.name for series in known.series] == ["7.3", "7.2", "6.12", "6.1"]


def test_an_unknown_series_is_refused_with_the_known_ones(lab: Path) -> None:
    with pytest.raises(InputError, match=r"no kernel '7\.4' .did you mean '7\.3'\?.: give 7\.3, 7\.2, or"):
        catalog.load(lab).find("7.4")


def test_a_series_file_is_sufficient(lab: Path) -> None:
    (lab / "series/7.4").touch()
    known = catalog.load(lab)
    assert known.lists_patches("7.4")
    assert known.patches("7.4") == ()
    assert not known.lists_patches("7.5")


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
    # User Mode Linux before has one processor; locks and alternatives to flush-at-limit are studied on newer series.
    newer = {"smp", "lock-stat", "resync-lock", "flush-counts-writeback", "go-below-share", "programs"}
    newer |= {"no-dontcache-kick", "no-strict-background", "one-throttle-queue", "memcg-dirty-limits", "storage"}
    for series in known.series:
        offered = set(known.variants(series.name))
        assert offered - before_or_after - newer == set(known.variants(known.default)) - before_or_after - newer
        assert len(offered & before_or_after) == 1
        assert offered & newer == (set() if series.name.startswith("6.") else newer)


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


@pytest.fixture
def lean(variants: Path) -> Path:
    """The same lab with a variant that has only a configuration."""
    (variants / "config/base.config").write_text("CONFIG_64BIT=y  # the host is\nCONFIG_XFS_FS=y  # a filesystem\n")
    (variants / "variants/lean").mkdir()
    (variants / "variants/lean/7.2.config").write_text("CONFIG_XFS_FS=n  # takes long\n")
    return variants


def options(name: str, folder: Path) -> str:
    return config.allconfig(recipe(name, catalog.load(folder)).options)


def test_a_variant_may_have_only_a_configuration(lean: Path) -> None:
    known = catalog.load(lean)
    assert "lean" in known.variants("7.3")
    assert known.find("7.3+lean").plain == "7.3"
    assert known.patches("7.3+lean") == known.patches("7.3")
    assert known.patches("7.3+lean+one") == known.patches("7.3+one")
    assert options("7.3", lean) == "CONFIG_64BIT=y\nCONFIG_XFS_FS=y\n"
    assert options("7.3+one+lean", lean) == "CONFIG_64BIT=y\n# CONFIG_XFS_FS is not set\n"
    (lean / "variants/lean/7.3.config").touch()
    assert "lean" not in catalog.load(lean).variants("7.3")


def test_options_in_a_name_are_changed_after_all_fragments(lean: Path) -> None:
    assert options("7.3+lean+XFS_FS=y", lean) == options("7.3", lean)
    assert options("7.3+HZ=250+DEFAULT=cubic+lean+64BIT=n", lean).splitlines() == [
        *("# CONFIG_64BIT is not set", "# CONFIG_XFS_FS is not set", "CONFIG_HZ=250", 'CONFIG_DEFAULT="cubic"')
    ]
    digests = {recipe(name, catalog.load(lean)).digest for name in ("7.3", "7.3+A=y", "7.3+A=n", "7.3+lean")}
    assert len(digests) == 4
    known = catalog.load(lean)
    assert known.find("7.3+B=y+lean+A=n").name == known.find("7.3+lean+A=y+A=n+B=y").name == "7.3+lean+A=n+B=y"
    assert recipe_of_tree(Choice((), listed=False), "8.1", {"A": "y"}, known).options[-1].name == "CONFIG_A"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("7.3+CONFIG_A=y", r"kernel '7\.3\+CONFIG_A=y': write A, without CONFIG_"),
        ("7.3+A=b c", r"'b c' is not a plain value"),
        ("7.3+A B=y", r"'A B' is not the name of an option"),
    ],
)
def test_what_is_no_option_is_refused(lean: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        catalog.load(lean).find(name)


def test_the_lean_variant_leaves_ext4() -> None:
    known = catalog.load()
    for series in known.series:
        usual, lean = (
            config.parse_allconfig(config.allconfig(recipe(f"{series.name}{more}", known).options))
            for more in ("", "+lean")
        )
        assert usual.keys() == lean.keys()
        changed = {name for name in usual if usual[name] != lean[name]}
        assert {"XFS_FS", "BTRFS_FS", "F2FS_FS", "VFAT_FS", "EXFAT_FS"} <= changed
        assert {lean[name] for name in changed} == {"n"}
        assert lean["EXT4_FS"] == lean["EXT4_USE_FOR_EXT2"] == "y"
