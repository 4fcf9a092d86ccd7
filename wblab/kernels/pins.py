"""The exact source of each series, from linux-uml/pins.toml; the same checkout has the same sources."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from wblab.core.errors import InputError
from wblab.lab.places import check_checkout

_HEAD = """\
# Which source exactly each series means. `wblab kernel build SERIES --refresh` moves a pin to what is newest.
# debian: the version of the package that kernels.toml names; kernel_org: that of the tarball. sha256: of either file.
"""


@dataclass(frozen=True)
class Pin:
    """One source archive. origin: `debian` or `kernel_org`; `version` is a version there."""

    origin: str
    version: str
    sha256: str

    @property
    def identity(self) -> str:
        """The identity of this source in build ids."""
        return f"sha256:{self.sha256}"


ORIGINS = ("debian", "kernel_org")


def load(path: Path) -> dict[str, Pin]:
    """Return the pins by series; empty if the file is missing. Raises InputError if it cannot be read."""
    try:
        return dict(_pins(path.read_text()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:  # also TOMLDecodeError
        raise InputError(f"{path} cannot be used ({error}): restore it from the lab's repository") from None


@cache  # each run loads the pins several times
def _pins(text: str) -> Mapping[str, Pin]:
    return {series: _pin(entry) for series, entry in tomllib.loads(text).items()}


def _pin(entry: Mapping[str, str]) -> Pin:
    (origin,) = (name for name in ORIGINS if name in entry)
    return Pin(origin, str(entry[origin]), str(entry["sha256"]))


def check_writable(path: Path) -> None:
    """Raise InputError if the pins cannot be changed."""
    check_checkout(path, "--refresh")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"--refresh writes {path}, and you have no permission: use your own checkout")


def save(path: Path, pins: Mapping[str, Pin]) -> None:
    """Write the pins in their order. Raises InputError if that is not possible."""
    check_writable(path)
    tables = (
        f'\n["{series}"]\n{pin.origin} = "{pin.version}"\nsha256 = "{pin.sha256}"\n' for series, pin in pins.items()
    )
    path.write_text(_HEAD + "".join(tables))
