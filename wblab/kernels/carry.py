"""Move kernels between machines: from the cache to a file, and from a file to the cache."""

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
from wblab.lab.held import replace_file


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


def _read(built: Kernel) -> Packed:
    folder = built.path.parent
    if built.config is None or folder.parent != cache.home() / "builds":
        raise InputError(f"{built.path} was not built by the lab, so it cannot be packed: name a series or a tree")
    try:
        described = identity.parse((folder / "identity.json").read_bytes())
        found = Packed(described, built.config.read_bytes(), built.path.read_bytes())
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


def _unpack(path: Path, digest: str | None) -> Packed:
    try:
        content = files.read_bytes(path, packed.MOST_BYTES, follow=True)
        if digest and sha256(content).hexdigest() != digest.lower():
            raise ValueError(f"its SHA-256 is {sha256(content).hexdigest()}, not the given one")
        return packed.from_file(content)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not a packed kernel: {error}") from None


def _keep(found: Packed, folder: Path) -> None:
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
