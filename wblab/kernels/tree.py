"""Kernel trees: their version and identity, and copies of them that can be patched.

The lab never writes to the user's tree. It builds a copy that shares no file with it.
"""

import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wblab.core.errors import InputError
from wblab.kernels.sealed import Sealed, sealed

_FICLONE = 0x40049409


def version(tree: Path) -> str:
    """Return the series of a kernel tree, such as 7.3, from its Makefile. Raises InputError if it is not a tree."""
    try:
        makefile = (tree / "Makefile").read_bytes()
    except OSError:
        makefile = b""
    found = version_of(makefile)
    if not found or not (tree / "arch/um").is_dir():
        raise InputError(f"{tree} is not a kernel tree: it needs a Makefile with VERSION and PATCHLEVEL, and arch/um")
    return found


def version_of(makefile: bytes) -> str | None:
    """Return the series that a kernel's Makefile names, or None."""
    head = makefile[:2000].decode(errors="replace")
    numbers = dict(re.findall(r"^(VERSION|PATCHLEVEL) = (\d+)$", head, re.MULTILINE))
    return f"{numbers['VERSION']}.{numbers['PATCHLEVEL']}" if len(numbers) == 2 else None


def describe(tree: Path) -> str:
    """Return a description of the tree's state for readers: its path, with git's description if there is one."""
    with _sealed(tree) as repository:
        described = repository.described() if repository else ""
    return f"{tree} ({described})" if described else str(tree)


def identity(tree: Path) -> str:
    """Return a digest of the tree: of git's HEAD and all changes, or without git of names, sizes and times."""
    digest = hashlib.sha256()
    with _sealed(tree) as repository:
        changes = repository.changes() if repository else None
        others = repository.names("--others") if repository else None
    if repository is None or changes is None or others is None:
        for file in files(tree):
            status = os.lstat(tree / file)
            digest.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
        return f"files:{digest.hexdigest()}"
    digest.update(repository.head + changes)
    for name in others:
        digest.update(os.fsencode(name) + b"\0" + _content(tree / name))
    return f"git:{digest.hexdigest()}"


def files(tree: Path) -> list[str]:
    """Return the source files of a tree, sorted, without git's own files and without those that git ignores.

    Raises InputError for a tree without git in which a kernel was built.
    """
    with _sealed(tree) as repository:
        listed = repository.names("--cached", "--others") if repository else None
    if listed is not None:
        return sorted(name for name in set(listed) if os.path.lexists(tree / name))
    for sign in (".config", "include/config"):
        if (tree / sign).exists():
            raise InputError(f"{tree} has {sign}: a kernel was built in it; run 'make ARCH=um mrproper' there first")
    return sorted(_walk(tree))


def _walk(tree: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(tree):
        if ".git" in folders:
            folders.remove(".git")
        below = os.path.relpath(folder, tree)
        # Links to folders count as files; os.walk does not follow them.
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (os.path.normpath(os.path.join(below, name)) for name in names + links)


def copy(tree: Path, names: Iterable[str], target: Path, clone: Callable[[str, str], bool] | None = None) -> None:
    """Replace `target` by a copy of the named files of a tree, with their times. Share blocks if possible.

    clone: copies a file, and says whether both share their blocks; by default as the filesystem can.
    """
    clone = clone or _clone
    shutil.rmtree(target, ignore_errors=True)
    clonable = True
    made: set[str] = set()
    for name in names:
        folder = os.path.dirname(name)
        if folder not in made:
            os.makedirs(target / folder, exist_ok=True)
            made.add(folder)
        source, copied = f"{tree}/{name}", f"{target}/{name}"
        if clonable and not os.path.islink(source):
            clonable = clone(source, copied)
        else:
            shutil.copyfile(source, copied, follow_symlinks=False)
        shutil.copystat(source, copied, follow_symlinks=False)


def _clone(source: str, target: str) -> bool:
    """Copy a file; return whether both files share their blocks until one is written.

    ioctl_ficlone(2) does this within one filesystem, on Btrfs, XFS and others.
    """
    with open(source, "rb") as given, open(target, "xb") as made:
        try:
            fcntl.ioctl(made, _FICLONE, given.fileno())
        except OSError:
            shutil.copyfileobj(given, made)
            return False
        return True


@contextmanager
def _sealed(tree: Path) -> Iterator[Sealed | None]:
    """Yield what reads the tree's git repository without its configuration; None if git does not manage it."""
    if not (tree / ".git").exists() or not shutil.which("git"):
        yield None
        return
    with sealed(tree) as repository:
        yield repository


def _content(path: Path) -> bytes:
    """Return what a file of a tree has; of a link, where it leads, of anything else nothing."""
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return os.fsencode(os.readlink(path))
    return path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
