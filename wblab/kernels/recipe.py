"""The patches and the configuration that the lab adds to a kernel's source."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wblab.kernels import config, patches
from wblab.kernels.catalog import Catalog
from wblab.kernels.choice import Choice, ReadFile, choose
from wblab.kernels.forms import nearest
from wblab.kernels.patches import Patch
from wblab.lab.kernelname import options_in

METHOD = 1  # part of every key; increase it when the same inputs are built differently


@dataclass(frozen=True)
class Recipe:
    """Patches and options at the start of the build."""

    patches: tuple[Patch, ...]
    options: tuple[config.Option, ...]
    steps: int  # expected number of files that a build compiles

    @property
    def digest(self) -> str:
        """The digest of patches and options, without the reasons beside the options."""
        return digest(METHOD, config.allconfig(self.options), ((patch.name, patch.sha256) for patch in self.patches))

    def key(self, identity: str, compiler: str) -> str:
        """Return the build id of this recipe with a source and a compiler."""
        return build_id(self.digest, identity, compiler)


def digest(method: int, options: str, patches: Iterable[tuple[str, str]]) -> str:
    """Return the digest of a recipe: the options as kconfig reads them, the names and SHA-256 of the patches."""
    parts = [f"{name}\0{sha256}" for name, sha256 in patches]
    return hashlib.sha256("\0".join([str(method), options, *parts]).encode()).hexdigest()


def build_id(recipe_digest: str, source_identity: str, compiler: str) -> str:
    """Return the build id of a source with a recipe and a compiler."""
    return hashlib.sha256(f"{recipe_digest}\0{source_identity}\0{compiler}".encode()).hexdigest()


def recipe(name: str, catalog: Catalog) -> Recipe:
    """Return the recipe of a series, with variants and options as in a kernel's name.

    Raises InputError for a bad fragment or series file.
    """
    series, given = options_in(name)
    own = (*config.requested(catalog.variant_fragments(series)), *config.from_user(given))
    return _recipe(series, tuple(patches.read(file) for file in catalog.patches(series)), own, catalog)


def recipe_of_tree(chosen: Choice, version: str, options: Mapping[str, int | str], catalog: Catalog) -> Recipe:
    """Return the recipe of a tree of `version`, such as 7.3, with the patches chosen for it, and a user's options."""
    near = nearest(version, [series.name for series in catalog.series])[0]
    return _recipe(
        near, chosen.patches, config.from_user({name: str(value) for name, value in options.items()}), catalog
    )


def choose_for(tree: ReadFile, version: str, source: str, catalog: Catalog) -> Choice:
    """Return the patches for a tree of `version`. source: its name for errors. Raises PatchError, InputError."""
    own = catalog.patches(version) if catalog.lists_patches(version) else None
    return choose(tree, source, own, catalog.forms(version))


def _recipe(series: str, given: tuple[Patch, ...], own: Sequence[config.Option], catalog: Catalog) -> Recipe:
    options = config.changed(config.requested(catalog.fragments()), own)
    return Recipe(given, options, catalog.find(series).steps)
