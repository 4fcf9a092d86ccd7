"""Sources of kernels: archives, trees, and the unpacking of archives."""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wblab.core.errors import InputError, WblabError
from wblab.kernels import kernel, sourcetree
from wblab.lab import cache
from wblab.lab.progress import Report


@dataclass(frozen=True)
class KernelSource:
    """The source of a kernel, with a digest of all of it."""

    description: str
    identity: str
    path: str  # the user's tree; else the archive, which is deleted after unpacking

    @property
    def is_tree(self) -> bool:
        """Whether this is the user's own tree."""
        return not self.identity.startswith("sha256:")

    @property
    def tree(self) -> Path:
        """The tree; it exists after `unpack`."""
        if self.is_tree:
            return Path(self.path)
        return cache.home() / "trees" / self.identity.removeprefix("sha256:")[:16]

    @property
    def is_here(self) -> bool:
        """Whether the source is on this machine, so that nothing must be fetched."""
        return self.tree.exists() or Path(self.path).exists()


def given(path: Path) -> KernelSource:
    """Return the source that the user named: a tree, a tarball or a package file. Raises InputError."""
    path = path.resolve()
    if path.is_dir():
        sourcetree.version(path)
        return KernelSource(sourcetree.describe(path), sourcetree.identity(path), str(path))
    if not is_archive(path):
        raise InputError(f"{path} is neither a kernel tree, an archive ({', '.join(_ARCHIVES)}) nor a linux executable")
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    return KernelSource(str(path), f"sha256:{digest}", str(path))


def is_archive(path: Path) -> bool:
    """Whether a file's name is that of an archive or a package."""
    return path.name.endswith(_ARCHIVES)


_ARCHIVES = (".tar", ".tar.xz", ".tar.gz", ".tgz", ".tar.bz2", ".tar.zst", ".deb")


def unpack(source: KernelSource, report: Report) -> Path:
    """Return the tree of a source; unpack it the first time. Raises WblabError."""
    target = source.tree
    if source.is_tree or target.exists():
        return target
    archive = Path(source.path)
    lock = cache.room("trees") / f"{target.name}.lock"
    with cache.locked(lock, lambda: report(None, "waiting for another unpacking")):
        if target.exists():
            return target
        report(None, f"unpacking {archive.name}")
        if f"sha256:{kernel.sha256(archive)}" != source.identity:
            raise WblabError(f"{archive} has the wrong digest: remove it and build again")
        staged = target.with_name(f"{target.name}.part")
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir()
        _extract(archive, staged)
        try:
            sourcetree.version(staged)
        except InputError:
            raise InputError(f"{archive} does not hold a kernel tree in one folder") from None
        staged.rename(target)
    if cache.home() in archive.parents:
        archive.unlink(missing_ok=True)  # the tree replaces it
    return target


# Files that no UML build reads: more than a third of the files, nearly half of the bytes.
_LEFT_OUT = (
    "--anchored",
    "--no-wildcards-match-slash",
    "--exclude=*/Documentation/[!K]*",
    "--exclude=*/arch/[a-tvwyz]*/*/[!K]*",  # all but um and x86; Kconfig files read each other, so all are kept
    "--exclude=*/drivers/gpu/drm/amd/include",
    "--exclude=*/tools/perf",
    "--exclude=*/tools/testing",
)


def _extract(archive: Path, folder: Path) -> None:
    # Files that root unpacks belong to root and are writable only by root, whatever the archive says.
    into = [f"--directory={folder}", "--strip-components=1", "--no-same-owner", "--no-same-permissions", *_LEFT_OUT]
    if archive.suffix == ".deb":  # the tarball is inside the package
        _pipe(
            ["dpkg-deb", "--fsys-tarfile", str(archive)],
            ["tar", "--extract", "--to-stdout", "--wildcards", "./usr/src/linux-source-*.tar.xz"],
            ["tar", "--extract", "--use-compress-program=xz --threads=0", *into],
            archive=archive,
        )
    else:
        _pipe(["tar", "--extract", f"--file={archive}", *into], archive=archive)


def _pipe(*commands: Sequence[str], archive: Path) -> None:
    """Run commands as a pipeline. Raises WblabError."""
    with tempfile.TemporaryFile() as errors:
        processes: list[subprocess.Popen[bytes]] = []
        upstream: IO[bytes] | None = None
        for command in commands:
            stdin = upstream or subprocess.DEVNULL
            process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=errors)
            if upstream:
                upstream.close()  # so that the writer notices the end of its reader
            upstream = process.stdout
            processes.append(process)
        processes[-1].communicate()
        failed = [process.wait() for process in processes]
        if any(failed):
            errors.seek(0)
            words = " ".join(errors.read().decode(errors="replace").split())
            raise WblabError(f"cannot unpack {archive}: {words or 'it holds no kernel source'}; is it whole?")
