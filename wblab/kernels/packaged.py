"""The kernel that the package wblab-kernel brings (misc/kernel-wheel). The cache gets it when it is first wanted.

The package holds for each of its kernels, by its name such as 7.2, the file of `wblab kernel pack` and, to look into
without unpacking that, its identity. A kernel that is in the cache already, built here or added, is used before it.
"""

from collections.abc import Iterator
from pathlib import Path

from wblab.core.errors import InputError
from wblab.kernels import carry, identity, series
from wblab.kernels.catalog import Catalog, Series
from wblab.kernels.identity import Identity
from wblab.kernels.kernel import Kernel
from wblab.lab.places import packaged_kernels
from wblab.lab.progress import step

PACKAGE = "wblab-kernel"
SUFFIX = ".tar.xz"


def current(wanted: Series, known: Catalog) -> Kernel | None:
    """Return the kernel of a series as `series.current` does; without one, first add that of the package, if it fits.

    Raises InputError if the package is damaged, WblabError if the kernel cannot be kept.
    """
    found = series.current(wanted, known)
    described = None if found else _identity(wanted.name)
    if described is None or not _fits(described, wanted, known):
        return found
    folder = packaged_kernels()
    assert folder, "its identity was there"
    with step(f"adding Linux {described.release} of the package {PACKAGE} to the cache"):
        carry.add(folder / f"{wanted.name}{SUFFIX}", lambda _: None)
    return series.current(wanted, known)


def describe(kernel: Kernel | None, wanted: Series, known: Catalog) -> str:
    """Return what the package has to do with a series, whose kernel is this or not built; "" nothing."""
    if kernel:
        brought = any(identity.parse(path.read_bytes()).build_id == kernel.build_id for path in _identities())
        return f"of the package {PACKAGE}" if brought else ""
    described = _identity(wanted.name)
    if described is None or _fits(described, wanted, known):
        return ""
    return (
        f"the package {PACKAGE} has Linux {described.release} with another source, other patches or options than this "
        "lab: install both from one 'make dist'"
    )


def _fits(described: Identity, wanted: Series, known: Catalog) -> bool:
    return series.name_of(described, known) == wanted.name


def _identity(name: str) -> Identity | None:
    """Return the identity of the package's kernel of that name, or None. Raises InputError."""
    for path in _identities():
        if path.stem == name:
            try:
                return identity.parse(path.read_bytes())
            except (OSError, ValueError) as error:
                raise InputError(
                    f"{path} of the package {PACKAGE} cannot be used ({error}): install it again"
                ) from None
    return None


def _identities() -> Iterator[Path]:
    folder = packaged_kernels()
    return folder.glob("*.json") if folder else iter(())
