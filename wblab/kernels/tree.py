"""Kernel trees: their version and identity, and copies of them that can be patched.

The lab never writes to the user's tree. It builds a copy that shares no file with it.
"""

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from wblab.core.errors import InputError
from wblab.kernels.git import git_bytes

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
    described = _git(tree, "describe", "--always", "--dirty", "--tags")
    return f"{tree} ({described.decode().strip()})" if described else str(tree)


def identity(tree: Path) -> str:
    """Return a digest of the tree: of git's HEAD and all changes, or without git of names, sizes and times."""
    digest = hashlib.sha256()
    head = _git(tree, "rev-parse", "HEAD")
    changes = _git(tree, "diff", "HEAD", "--binary", "--no-ext-diff")
    others = _git(tree, "ls-files", "-z", "--others", "--exclude-standard")
    if head is None or changes is None or others is None:
        for file in files(tree):
            status = os.lstat(tree / file)
            digest.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
        return f"files:{digest.hexdigest()}"
    digest.update(head + changes)
    for name in filter(None, others.decode().split("\0")):
        digest.update(name.encode() + b"\0" + (tree / name).read_bytes())
    return f"git:{digest.hexdigest()}"


def files(tree: Path) -> list[str]:
    """Return the source files of a tree, sorted, without git's own files and without those that git ignores.

    Raises InputError for a tree without git in which a kernel was built.
    """
    listed = _git(tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is not None:
        names = set(filter(None, listed.decode().split("\0")))
        return sorted(name for name in names if os.path.lexists(tree / name))
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


def copy(tree: Path, names: Iterable[str], target: Path) -> None:
    """Replace `target` by a copy of the named files of a tree, with their times. Share blocks if possible."""
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
            clonable = _clone(source, copied)
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


def _git(tree: Path, *arguments: str) -> bytes | None:
    """Return git's output for a tree, or None if git does not manage it."""
    if not (tree / ".git").exists() or not shutil.which("git"):
        return None
    done = git_bytes(tree, *arguments, environment={"GIT_OPTIONAL_LOCKS": "0"})
    return done.stdout if done.returncode == 0 else None
