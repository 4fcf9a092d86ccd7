"""The user's git repository: its commits, and a separate work tree to build them in. The user's own stays untouched."""

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from wblab.core.errors import InputError
from wblab.kernels import kept
from wblab.kernels.git import git, git_bytes
from wblab.lab import cache
from wblab.lab.progress import Report


@dataclass(frozen=True)
class GitCommit:
    """A commit as it is shown. date: the author's, in ISO 8601 as git writes it."""

    hash: str
    author: str
    date: str
    subject: str


@dataclass(frozen=True)
class Worktree:
    """A work tree made by the lab, and the directory for the object files of kernels built in it, which is kept."""

    tree: Path
    objects: Path

    def checkout(self, commit: str, report: Report) -> None:
        """Check a commit out. Git writes only the files that change."""
        report(None, "checking out")
        git(self.tree, "checkout", "--quiet", "--force", "--detach", commit)


def find_commit(tree: Path, revision: str) -> GitCommit:
    """Return the commit that a revision names. Raises InputError if there is no such commit or no repository."""
    if not tree.is_dir() or git(tree, "rev-parse", "--git-dir", allowed=_ANY).returncode:
        raise InputError(f"{str(tree)!r} is not in a git repository: name the kernel's repository with --tree PATH")
    found = git(tree, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", allowed=_ANY)
    if found.returncode:
        raise InputError(f"{tree} has no commit {revision!r}: give a tag, a branch or a hash")
    shown = git(tree, "show", "--no-patch", "--no-show-signature", _FORMAT, found.stdout.strip())
    return GitCommit(*shown.stdout.strip("\n").split("\0"))


def check_range(tree: Path, good: GitCommit, bad: GitCommit) -> None:
    """Raise InputError unless both commits hold a kernel and GOOD is an ancestor of BAD."""
    for name, commit in (("GOOD", good), ("BAD", bad)):
        if git(tree, "cat-file", "-e", f"{commit.hash}:arch/um", allowed=_ANY).returncode:
            raise InputError(f"{name}, {commit.hash[:12]}, is not a kernel's commit: it has no arch/um")
    if good.hash == bad.hash:
        raise InputError(f"GOOD and BAD are the same commit, {good.hash[:12]}: give two different ones")
    if git(tree, "merge-base", "--is-ancestor", good.hash, bad.hash, allowed=_ANY).returncode:
        swapped = not git(tree, "merge-base", "--is-ancestor", bad.hash, good.hash, allowed=_ANY).returncode
        hint = "swap the two" if swapped else "try their 'git merge-base' as GOOD"
        raise InputError(f"GOOD, {good.hash[:12]}, is not an ancestor of BAD, {bad.hash[:12]}: {hint}")


def reader(tree: Path, commit: str) -> Callable[[str], bytes | None]:
    """Return a function that returns the content of a commit's file, or None if there is none."""

    def read(name: str) -> bytes | None:
        # One process for each file takes 5 ms; patches touch some tens of files.
        found = git_bytes(tree, "cat-file", "blob", f"{commit}:{name}")
        return found.stdout if not found.returncode else None

    return read


def parents(tree: Path, commit: str) -> list[str]:
    """Return the hashes of a commit's parents."""
    return git(tree, "rev-parse", f"{commit}^@").stdout.split()


def history(tree: Path, good: str, bad: str) -> list[GitCommit]:
    """Return the commits after `good` up to `bad`, parents before children."""
    shown = git(tree, "log", "--topo-order", "--reverse", "--no-show-signature", _FORMAT, f"{good}..{bad}").stdout
    return [GitCommit(*line.split("\0")) for line in shown.split("\n") if line]


def touched(tree: Path, commits: Sequence[str], objects: Path) -> Counter[str]:
    """Return the folders in which commits change files, two levels deep, with the number of changes.

    objects: the folder of object files. Sources that were not compiled there do not count, nor do files that no build
    reads. Of very many commits, some are taken.
    """
    some = commits[:: len(commits) // _MOST_SHOWN + 1]
    names = git(tree, "log", "--no-walk", "--name-only", "--format=", *some).stdout.split("\n") if some else []
    built = (name for name in names if name and not _UNREAD.match(name) and _is_built(objects, name))
    return Counter("/".join(name.split("/")[:-1][:2]) or name for name in built)


_MOST_SHOWN = 500
_UNREAD = re.compile(r"Documentation/|tools/|samples/|MAINTAINERS|arch/(?!(um|x86)/)")


def _is_built(objects: Path, name: str) -> bool:
    return not name.endswith((".c", ".S")) or not objects.is_dir() or (objects / name).with_suffix(".o").exists()


@contextmanager
def worktree(tree: Path, commit: str, report: Report) -> Iterator[Worktree]:
    """Make a work tree in the cache and check a commit out; at the end, remove it and keep the object files.

    All bisections of a repository use the same directory, one after the other, and each removes what a killed one left.
    At the end, the oldest objects and kernels of bisections are removed if there are too many. Raises WblabError.
    """
    common = git(tree, "rev-parse", "--path-format=absolute", "--git-common-dir").stdout.strip()
    room = cache.room("bisect", sha256(common.encode()).hexdigest()[:16])
    made = Worktree(room / "tree", room / "objects")
    with cache.locked(room.with_suffix(".lock"), lambda: report(None, "waiting for another bisection of this tree")):
        _remove(tree, made)
        try:
            report(None, "checking out")
            git(tree, "worktree", "add", "--quiet", "--force", "--detach", str(made.tree), commit)
            yield made
        finally:
            _remove(tree, made)
            os.utime(room)
            kept.prune()


def _remove(tree: Path, made: Worktree) -> None:
    git(tree, "worktree", "remove", "--force", "--force", str(made.tree), allowed=_ANY)  # it may not exist
    for sources in (made.tree, made.objects / "tree"):  # the second is the patched copy
        shutil.rmtree(sources, ignore_errors=True)


_ANY = tuple(range(256))
_FORMAT = "--format=%H%x00%an <%ae>%x00%aI%x00%s"
