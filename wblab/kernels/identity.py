"""What a build says of itself, its identity.json: what it was made of, the id that follows from that, its digests.

An identity may be a stranger's: `parse` takes no more than is written below, and `Identity.check` says whether the id
is that of what it claims to be made of. Whether it was made of that, nothing but a build of one's own can tell.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from wblab.core import files
from wblab.kernels import recipe

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Named:
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
    method: int  # see recipe.METHOD
    options: str  # as kconfig reads them
    patches: tuple[Named, ...]  # in order
    compiler: str
    build_id: str
    config_sha256: str
    linux_sha256: str

    def check(self) -> None:
        """Raise ValueError if the build id does not follow from source, patches, options and compiler."""
        inputs = recipe.digest(self.method, self.options, ((patch.name, patch.sha256) for patch in self.patches))
        if recipe.build_id(inputs, self.source_identity, self.compiler) != self.build_id:
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
        return tuple(Named(_text(patch.get("name"), "name"), _text(patch.get("sha256"), "sha256")) for patch in given)
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
