"""Move kernels between machines: from the cache to a file, and from a file to the cache."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from wblab.core import files
from wblab.core.errors import InputError, WblabError
from wblab.kernels import build, catalog, identity, kernel, packed, series
from wblab.kernels.build import Say
from wblab.kernels.catalog import Catalog, Series
from wblab.kernels.identity import Identity
from wblab.kernels.kernel import Kernel
from wblab.kernels.packed import KernelPack
from wblab.lab import cache
from wblab.lab.held import replace_file
from wblab.lab.places import packaged_kernels
from wblab.lab.progress import step


@dataclass(frozen=True)
class Added:
    """A kernel added from a file."""

    kernel: Kernel
    name: str | None  # in this checkout; None: this checkout builds the series differently


def pack(built: Kernel, path: Path) -> str:
    """Write a kernel that the lab has built to a new file; return the file's SHA-256. Raises InputError."""
    if os.path.lexists(path):
        raise InputError(f"{str(path)!r} exists: give another name")
    content = packed.to_file(_read(built))
    try:
        with replace_file(path) as file:
            file.write(content)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    return sha256(content).hexdigest()


def _read(built: Kernel) -> KernelPack:
    folder = built.path.parent
    if built.config is None or folder.parent != cache.home() / "builds":
        raise InputError(f"{built.path} was not built by the lab, so it cannot be packed: name a series or a tree")
    try:
        described = identity.parse((folder / "identity.json").read_bytes())
        found = KernelPack(described, built.config.read_bytes(), built.path.read_bytes())
        found.check()
    except (OSError, ValueError) as error:
        raise WblabError(
            f"cannot pack the kernel in {folder}: {error}; it is damaged or from an earlier version of the lab: "
            "remove the folder and build it again"
        ) from None
    return found


def add(path: Path, say: Say, *, digest: str | None = None) -> Added:
    """Add a packed kernel to the cache, as the kernel of its series if this checkout would build the same.

    digest: the expected SHA-256 of the file. Raises InputError, and writes nothing, if the file is not a packed kernel.
    """
    found = _unpack(path, digest)
    folder = build.result(found.identity.build_id)
    lock = cache.room("builds") / f"{folder.name}.work.lock"  # the lock of the build itself
    with cache.locked(lock, lambda: say(f"waiting until another process has built or added this kernel ({lock})")):
        there = kernel.load(folder)
        if there is None:
            _keep(found, folder)
        elif kernel.sha256(there.path) != found.identity.linux_sha256:
            raise InputError(
                f"{str(path)!r} differs from the same kernel in {folder}: remove that folder to add this one"
            )
    added = kernel.load(folder)
    if added is None:
        raise WblabError(f"{folder} changed while the kernel was added: add it again")
    return Added(added, series.adopt(found.identity, catalog.load()))


def _unpack(path: Path, digest: str | None) -> KernelPack:
    try:
        content = files.read_bytes(path, packed.MOST_BYTES, follow=True)
        if digest and sha256(content).hexdigest() != digest.lower():
            raise ValueError(f"its SHA-256 is {sha256(content).hexdigest()}, not the given one")
        return packed.from_file(content)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not a packed kernel: {error}") from None


def _keep(found: KernelPack, folder: Path) -> None:
    """Write the files, and move them into place in one step."""
    staged = folder.with_suffix(".part")
    try:
        shutil.rmtree(staged, ignore_errors=True)  # left by a killed process
        staged.mkdir()
        for name, content in found.files().items():
            (staged / name).write_bytes(content)
            (staged / name).chmod(packed.mode(name))
        shutil.rmtree(folder, ignore_errors=True)  # an incomplete one
        staged.rename(folder)
    except OSError as error:
        raise WblabError(f"cannot keep the kernel in {folder}: {error.strerror}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)  # left only after a failure or an interruption


# The kernel that the package wblab-kernel brings (misc/kernel-wheel). The cache gets it when it is first wanted.
#
# The package holds for each of its kernels, by its name such as 7.2, the file of `wblab kernel pack` and, to look into
# without unpacking that, its identity. A kernel that is in the cache already, built here or added, is used before it.

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
        add(folder / f"{wanted.name}{SUFFIX}", lambda _: None)
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
