"""Kernel trees: their version and identity, and copies of them that can be patched.

A tree of the user is never written to: what is built is a copy that has no file in common with it.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from wblab.core.errors import InputError

_FICLONE = 0x40049409


def version(tree: Path) -> str:
    """Return the series of a kernel tree, such as 7.3, from its Makefile. Raises InputError where it is none."""
    try:
        head = (tree / "Makefile").read_text(errors="replace")[:2000]
    except OSError:
        head = ""
    numbers = dict(re.findall(r"^(VERSION|PATCHLEVEL) = (\d+)$", head, re.MULTILINE))
    if len(numbers) < 2 or not (tree / "arch/um").is_dir():
        raise InputError(f"{tree} is not a kernel tree: it needs a Makefile with VERSION and PATCHLEVEL, and arch/um")
    return f"{numbers['VERSION']}.{numbers['PATCHLEVEL']}"


def describe(tree: Path) -> str:
    """Return what a reader calls this state of the tree: its git description, or its path."""
    described = _git(tree, "describe", "--always", "--dirty", "--tags")
    return f"{tree} ({described.decode().strip()})" if described else str(tree)


def identity(tree: Path) -> str:
    """Return a digest that changes with the tree: of git's HEAD and what differs, else of names, sizes and times."""
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
    """Return the source files of a tree, sorted: without git's own, and without what git ignores.

    Raises InputError for a tree without git in which a kernel has been built.
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
        # Links to folders are files to us, and os.walk does not follow them.
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (os.path.normpath(os.path.join(below, name)) for name in names + links)


def copy(tree: Path, names: Iterable[str], target: Path) -> None:
    """Make `target`, anew, a copy of the named files of a tree, times kept; blocks are shared where they can be."""
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
    """Copy a file, and return whether the two share their blocks until one of them is written to.

    ioctl_ficlone(2): Btrfs, XFS and others can do that within one filesystem.
    """
    with open(source, "rb") as given, open(target, "xb") as made:
        try:
            fcntl.ioctl(made, _FICLONE, given.fileno())
        except OSError:
            shutil.copyfileobj(given, made)
            return False
        return True


def _git(tree: Path, *arguments: str) -> bytes | None:
    """Return what git says about a tree, or None where git does not manage it."""
    if not (tree / ".git").exists() or not shutil.which("git"):
        return None
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    done = subprocess.run(["git", "-C", str(tree), *arguments], env=environment, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None
