"""Which source exactly a series means: linux-uml/pins.toml, the same for everybody who has the same lab."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError
from wblab.lab.places import check_checkout

_HEAD = """\
# Which source exactly each series means. `wblab kernel build SERIES --refresh` moves a pin to what is newest.
# debian: the version of the package that kernels.toml names; kernel_org: that of the tarball. sha256: of either file.
"""


@dataclass(frozen=True)
class Pin:
    """One source archive. origin: `debian` or `kernel_org`, which says what `version` is one of."""

    origin: str
    version: str
    sha256: str

    @property
    def identity(self) -> str:
        """What builds from this archive are known by."""
        return f"sha256:{self.sha256}"


ORIGINS = ("debian", "kernel_org")


def load(path: Path) -> dict[str, Pin]:
    """Return the pins by series; none where there is no such file. Raises InputError for one that cannot be read."""
    try:
        table = tomllib.loads(path.read_text())
        return {series: _pin(entry) for series, entry in table.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:  # also TOMLDecodeError
        raise InputError(f"{path} cannot be used ({error}): take it from the lab's repository again") from None


def _pin(entry: Mapping[str, str]) -> Pin:
    (origin,) = (name for name in ORIGINS if name in entry)
    return Pin(origin, str(entry[origin]), str(entry["sha256"]))


def check_writable(path: Path) -> None:
    """Raise InputError where the pins cannot be moved."""
    check_checkout(path, "--refresh")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"--refresh writes {path}, which you may not: do it in a checkout of your own")


def save(path: Path, pins: Mapping[str, Pin]) -> None:
    """Write the pins, in their order. Raises InputError where that is not possible."""
    check_writable(path)
    tables = (
        f'\n["{series}"]\n{pin.origin} = "{pin.version}"\nsha256 = "{pin.sha256}"\n' for series, pin in pins.items()
    )
    path.write_text(_HEAD + "".join(tables))
