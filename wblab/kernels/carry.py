"""Kernels taken from one machine to another: from the cache into a file, and from a file into the cache."""

import os
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from wblab.core import files
from wblab.core.errors import InputError, WblabError
from wblab.kernels import build, cache, catalog, identity, kernel, packed, series
from wblab.kernels.build import Say
from wblab.kernels.kernel import Kernel
from wblab.kernels.packed import Packed


@dataclass(frozen=True)
class Added:
    """A kernel that came in a file."""

    kernel: Kernel
    name: str | None  # what this checkout calls it; None: it would build none like it


def pack(built: Kernel, path: Path) -> str:
    """Write a kernel that the lab has built to a new file, and return the file's SHA-256. Raises InputError."""
    if os.path.lexists(path):
        raise InputError(f"{str(path)!r} exists: give another name")
    content = packed.to_file(_read(built))
    try:
        with files.replace_file(path) as file:
            file.write(content)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    return sha256(content).hexdigest()


def _read(built: Kernel) -> Packed:
    folder = built.path.parent
    if built.config is None or folder.parent != cache.home() / "builds":
        raise InputError(f"{built.path} was not built by the lab: only what it has built can be packed")
    try:
        described = identity.parse((folder / "identity.json").read_bytes())
        found = Packed(described, built.config.read_bytes(), built.path.read_bytes())
        found.check()
    except (OSError, ValueError) as error:
        raise WblabError(
            f"cannot pack the kernel in {folder}: {error}; it is damaged, or of an earlier version of the lab: "
            "remove the folder and build it again"
        ) from None
    return found


def add(path: Path, say: Say, *, digest: str | None = None) -> Added:
    """Take a packed kernel into the cache, and make it this checkout's where the checkout would build the same.

    digest: the SHA-256 that the file must have. Raises InputError for a file that is anything else than a packed
    kernel; then nothing was written.
    """
    found = _unpack(path, digest)
    folder = build.result(found.identity.build_id)
    lock = cache.room("builds") / f"{folder.name}.work.lock"  # that of the build itself
    with cache.locked(lock, lambda: say(f"this kernel is being built or added already: waiting for it ({lock})")):
        there = kernel.load(folder)
        if there is None:
            _keep(found, folder)
        elif kernel.sha256(there.path) != found.identity.linux_sha256:
            raise InputError(
                f"{str(path)!r} holds other bytes for a kernel that is here already, in {folder}: remove that folder "
                "to take this one"
            )
    added = kernel.load(folder)
    if added is None:
        raise WblabError(f"{folder} was changed while the kernel was added: add it again")
    return Added(added, series.adopt(found.identity, catalog.load()))


def _unpack(path: Path, digest: str | None) -> Packed:
    try:
        content = files.read_bytes(path, packed.MOST_BYTES, follow=True)
        if digest and sha256(content).hexdigest() != digest.lower():
            raise ValueError(f"its SHA-256 is {sha256(content).hexdigest()}, not the one that was asked for")
        return packed.from_file(content)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not taken as a packed kernel: {error}") from None


def _keep(found: Packed, folder: Path) -> None:
    """Put the files together and move them into place at once."""
    staged = folder.with_suffix(".part")
    try:
        shutil.rmtree(staged, ignore_errors=True)  # of one that was killed
        staged.mkdir()
        for name, content in found.files().items():
            (staged / name).write_bytes(content)
            (staged / name).chmod(packed.mode(name))
        shutil.rmtree(folder, ignore_errors=True)  # one that is not complete
        staged.rename(folder)
    except OSError as error:
        raise WblabError(f"cannot keep the kernel in {folder}: {error.strerror}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)  # there only where it failed, or was interrupted
