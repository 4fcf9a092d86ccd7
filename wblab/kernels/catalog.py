"""The kernels that the lab knows, from linux-uml/kernels.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, nearest
from wblab.kernels import pins
from wblab.kernels.patches import Forms, PatchFile, forms, read_series
from wblab.kernels.pins import Pin
from wblab.lab.kernelname import VARIANT, check_option, named, options_in, ordinal
from wblab.lab.places import LINUX_UML


@dataclass(frozen=True)
class Series:
    """One series of kernels, such as 7.3, and its Debian source package.

    The name may also have variants and options: 7.3+hz-1000, 7.3+PREEMPT=y.
    """

    name: str
    package: str
    suites: tuple[str, ...]  # in the order of search; "release": the system's own
    steps: int  # files that a build makes

    @property
    def plain(self) -> str:
        """The name without variants and options, which is the name of the source."""
        return self.name.partition(VARIANT)[0]


@dataclass(frozen=True)
class Catalog:
    """All series, newest first, and the folder with their patches and configuration."""

    folder: Path
    default: str
    kernel_org: str  # URL of a folder of tarballs, with {major}
    snapshot: str  # URL of Debian's archive of old packages
    features: Mapping[str, str]  # name -> a string that only executables with this feature contain
    events: Mapping[str, str]  # an event system that some kernels lack -> the feature that provides it
    series: tuple[Series, ...]
    pins: Mapping[str, Pin]  # series -> its source
    optional: Mapping[str, str]  # a patch that no kernel needs -> what is missing without it
    requires: Mapping[str, str]  # a form of a patch -> the patch without which it does not compile

    def find(self, name: str) -> Series:
        """Return a series by its name, also with variants and options, which get their one order.

        Raises InputError that suggests the nearest name.
        """
        names = [series.name for series in self.series]
        with_variants, options = options_in(name)
        plain, *variants = with_variants.split(VARIANT)
        if plain not in names:
            raise InputError(
                f"no kernel {name!r}{nearest(plain, names)}: give {', '.join(names)}, or the path of a kernel tree, "
                "a tarball or a built linux executable"
            )
        for option, equals, value in (part.partition("=") for part in name.split(VARIANT)[1:]):
            if equals:
                check_option(option, value, f"kernel {name!r}")
        for variant in variants:
            offered = self.variants(plain)
            if variant not in offered:
                words = f"give {', '.join(offered)}" if offered else "it has none"
                raise InputError(f"no variant {variant!r} of the kernel {plain}{nearest(variant, offered)}: {words}")
        return replace(self.series[names.index(plain)], name=named(with_variants, options))

    def knows(self, name: str) -> bool:
        """Whether this is the name of a series and not a path."""
        return any(name.partition(VARIANT)[0] == series.name for series in self.series)

    @property
    def pins_file(self) -> Path:
        """The file of the pins; `--refresh` writes it."""
        return _pins_file(self.folder)

    def from_default(self) -> tuple[Series, ...]:
        """Return the default series and all older ones, newest first."""
        names = [series.name for series in self.series]
        return self.series[names.index(self.default) :]

    def patches(self, name: str) -> tuple[PatchFile, ...]:
        """Return the patches of a series in order; those of its variants come last. Raises InputError."""
        plain, *variants = name.split(VARIANT)
        own = read_series(self._series_file(plain), self.folder / "patches")
        return (*own, *filter(None, (self.variant(variant, plain) for variant in variants)))

    def variants(self, name: str) -> list[str]:
        """Return the names of the variants that a series offers."""
        folders = (self.folder / "variants").glob("*")
        return sorted(folder.name for folder in folders if any(_variant_form(folder, name, kind) for kind in _KINDS))

    def variant(self, variant: str, name: str) -> PatchFile | None:
        """Return the patch of a variant that a series offers: its own form, else that of the nearest older series.

        None: the variant has only another configuration.
        """
        form = _variant_form(self.folder / "variants" / variant, name, _PATCH)
        return PatchFile(f"{name}.patch", form) if form else None

    def variant_fragments(self, name: str) -> tuple[Path, ...]:
        """Return the fragments of the variants in the name of a series; they change the configuration of all."""
        plain, *variants = name.split(VARIANT)
        folders = (self.folder / "variants" / variant for variant in variants)
        return tuple(filter(None, (_variant_form(folder, plain, _FRAGMENT) for folder in folders)))

    def fragments(self) -> tuple[Path, ...]:
        """Return the fragments of the configuration, sorted by name."""
        return tuple(sorted((self.folder / "config").glob("*.config")))

    def lists_patches(self, version: str) -> bool:
        """Whether linux-uml/series/<version> exists, even as an empty file."""
        return self._series_file(version).is_file()

    def forms(self, version: str) -> list[Forms]:
        """Return the patches that a tree of `version` may need, with their forms. Raises InputError."""
        names = [path.name for path in (self.folder / "series").iterdir()]
        folder = self.folder / "patches"
        return forms(version, {name: self.patches(name) for name in names}, folder, self.optional, self.requires)

    def _series_file(self, plain: str) -> Path:
        return self.folder / "series" / plain


_PATCH, _FRAGMENT = _KINDS = (".patch", ".config")  # a variant has one of them, or both


def _variant_form(folder: Path, series: str, kind: str) -> Path | None:
    """Return the file in a variant's folder that suits a series, or None: of the series, else of the nearest older.

    An empty file ends a variant: newer series do not offer it.
    """
    forms = [path for path in folder.glob(f"[0-9]*{kind}") if ordinal(path.stem) <= ordinal(series)]
    form = max(forms, key=lambda path: ordinal(path.stem), default=None)
    return form if form and form.stat().st_size else None


def load(folder: Path = LINUX_UML) -> Catalog:
    """Read `folder`/kernels.toml. Raises InputError that names the file and the error."""
    path = folder / "kernels.toml"
    try:
        table = _parsed(path.read_text())
        series = tuple(_series(entry) for entry in table["series"])
        catalog = Catalog(
            folder=folder,
            default=table["default"],
            kernel_org=table["kernel_org"],
            snapshot=table["snapshot"],
            features=table["features"],
            events=table.get("events", {}),
            series=series,
            pins=pins.load(_pins_file(folder)),
            optional=table.get("optional", {}),
            requires=table.get("requires", {}),
        )
        catalog.find(catalog.default)
        for feature in catalog.events.values():
            catalog.features[feature]
    except KeyError as error:
        raise InputError(f"{path}: {error.args[0]!r} is missing; see README.md beside it") from None
    except (OSError, TypeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    return catalog


@cache  # each run loads the catalog several times
def _parsed(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def _pins_file(folder: Path) -> Path:
    return folder / "pins.toml"


def _series(entry: Mapping[str, Any]) -> Series:
    return Series(entry["name"], entry["package"], tuple(entry["suites"]), entry["steps"])
