"""What a build says of itself, its identity.json: what it was made of, the id that follows from that, its digests.

An identity may be a stranger's: `parse` takes no more than is written below, and `Identity.check` says whether the id
is that of what it claims to be made of. Whether it was made of that, nothing but a build of one's own can tell.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from wblab.core import files
from wblab.kernels import config, patches
from wblab.kernels.catalog import Catalog
from wblab.kernels.choice import Choice, ReadFile, choose
from wblab.kernels.patches import Patch, nearest_first
from wblab.lab.kernelname import options_in

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class PatchDigest:
    """A patch in an identity."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Identity:
    """All inputs of a build, and the digests of its result."""

    series: str  # of the tree, such as 7.3
    release: str  # as uname -r in the guest
    source: str  # as text
    source_identity: str
    method: int  # see METHOD
    options: str  # as kconfig reads them
    patches: tuple[PatchDigest, ...]  # in order
    compiler: str
    build_id: str
    config_sha256: str
    linux_sha256: str

    def check(self) -> None:
        """Raise ValueError if the build id does not follow from source, patches, options and compiler."""
        inputs = digest(self.method, self.options, ((patch.name, patch.sha256) for patch in self.patches))
        if build_id(inputs, self.source_identity, self.compiler) != self.build_id:
            raise ValueError("its build id does not follow from its source, patches, options and compiler")

    def values(self) -> dict[str, Any]:
        """Return the content of identity.json."""
        return asdict(self)


def parse(content: bytes) -> Identity:
    """Return the identity in an identity.json. Raises ValueError that names the wrong key."""
    value = files.parse_json(content)
    if not isinstance(value, dict):
        raise ValueError("its identity.json holds no object")
    return Identity(**{field.name: _field(field.name, value) for field in fields(Identity)})


def _field(key: str, value: Mapping[str, Any]) -> Any:
    given = value.get(key)
    if key == "patches":
        if not isinstance(given, list) or not all(isinstance(patch, dict) for patch in given):
            raise ValueError("its identity.json has no 'patches'")
        return tuple(
            PatchDigest(_text(patch.get("name"), "name"), _text(patch.get("sha256"), "sha256")) for patch in given
        )
    if key == "method":
        if type(given) is not int:
            raise ValueError("its identity.json has no 'method'")
        return given
    return _text(given, key)


def _text(given: object, key: str) -> str:
    """Return a printable text. It has no NUL, because NULs separate the parts that are hashed."""
    lines = given.split("\n") if isinstance(given, str) and key == "options" else [given]
    if not isinstance(given, str) or not all(isinstance(line, str) and line.isprintable() for line in lines):
        raise ValueError(f"its identity.json has no {key!r} that is a line of text")
    if (key == "build_id" or key.endswith("sha256")) and not _DIGEST.fullmatch(given):
        raise ValueError(f"its identity.json has a {key!r} that is no SHA-256")
    return given


# The patches and the configuration that the lab adds to a kernel's source.

METHOD = 1  # part of every key; increase it when the same inputs are built differently


@dataclass(frozen=True)
class Recipe:
    """Patches and options at the start of the build."""

    patches: tuple[Patch, ...]
    options: tuple[config.KernelOption, ...]
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
    near = nearest_first(version, [series.name for series in catalog.series])[0]
    return _recipe(
        near, chosen.patches, config.from_user({name: str(value) for name, value in options.items()}), catalog
    )


def choose_for(tree: ReadFile, version: str, source: str, catalog: Catalog) -> Choice:
    """Return the patches for a tree of `version`. source: its name for errors. Raises PatchError, InputError."""
    own = catalog.patches(version) if catalog.lists_patches(version) else None
    return choose(tree, source, own, catalog.forms(version))


def _recipe(series: str, given: tuple[Patch, ...], own: Sequence[config.KernelOption], catalog: Catalog) -> Recipe:
    options = config.changed(config.requested(catalog.fragments()), own)
    return Recipe(given, options, catalog.find(series).steps)
