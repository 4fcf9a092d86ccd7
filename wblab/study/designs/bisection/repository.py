"""The user's git repository: its commits, and a work tree beside it to build them in. The user's own is not touched."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.kernels import cache
from wblab.lab.progress import Report


@dataclass(frozen=True)
class Commit:
    """What a reader wants to know of a commit. date: of its author, as git writes ISO 8601."""

    hash: str
    author: str
    date: str
    subject: str


@dataclass(frozen=True)
class Worktree:
    """A work tree of ours, and a folder for the objects of kernels built in it."""

    tree: Path
    objects: Path

    def checkout(self, commit: str, report: Report) -> None:
        """Check a commit out; only the files that change are written, so that make has less to do."""
        report(None, "checking out")
        git(self.tree, "checkout", "--quiet", "--force", "--detach", commit)


def git(tree: Path, *arguments: str, allowed: tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[str]":
    """Run git in a tree, without the user's hooks. Raises WblabError for an exit code that is not allowed."""
    # What a caller such as git itself has set is about another repository, or another part of this one.
    kept = {name: value for name, value in os.environ.items() if name[:4] != "GIT_" or name.startswith("GIT_CONFIG")}
    command = ["git", "-C", str(tree), "-c", f"core.hooksPath={os.devnull}", *arguments]
    try:
        done = subprocess.run(
            command,
            env=kept | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise InputError("there is no git on this machine: run 'sudo apt-get install git'") from None
    if done.returncode not in allowed:
        words = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        raise WblabError(f"git {arguments[0]} failed in {tree}: {words}")
    return done


def find_commit(tree: Path, revision: str) -> Commit:
    """Return the commit that a revision names. Raises InputError for one that is none, and for a tree without git."""
    if not tree.is_dir() or git(tree, "rev-parse", "--git-dir", allowed=_ANY).returncode:
        raise InputError(f"{str(tree)!r} is not in a git repository: name the kernel's with --tree PATH")
    found = git(tree, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", allowed=_ANY)
    if found.returncode:
        raise InputError(f"{revision!r} is no commit of {tree}: give a tag, a branch or a hash")
    shown = git(
        tree, "show", "--no-patch", "--no-show-signature", "--format=%H%x00%an <%ae>%x00%aI%x00%s", found.stdout.strip()
    )
    return Commit(*shown.stdout.strip("\n").split("\0"))


def check_range(tree: Path, good: Commit, bad: Commit) -> None:
    """Raise InputError unless both are commits of a kernel, and BAD comes after GOOD."""
    for name, commit in (("GOOD", good), ("BAD", bad)):
        if git(tree, "cat-file", "-e", f"{commit.hash}:arch/um", allowed=_ANY).returncode:
            raise InputError(f"{name}, {commit.hash[:12]}, holds no kernel: it has no arch/um")
    if good.hash == bad.hash:
        raise InputError(f"GOOD and BAD are the same commit, {good.hash[:12]}: give two")
    if git(tree, "merge-base", "--is-ancestor", good.hash, bad.hash, allowed=_ANY).returncode:
        turned = not git(tree, "merge-base", "--is-ancestor", bad.hash, good.hash, allowed=_ANY).returncode
        hint = "it comes after it: turn the two around" if turned else "try their 'git merge-base'"
        raise InputError(f"GOOD, {good.hash[:12]}, is not an ancestor of BAD, {bad.hash[:12]}: {hint}")


def parents(tree: Path, commit: str) -> list[str]:
    """Return the hashes of a commit's parents."""
    return git(tree, "rev-parse", f"{commit}^@").stdout.split()


def history(tree: Path, good: str, bad: str) -> list[str]:
    """Return the hashes of the commits from after `good` to `bad`, parents before children."""
    return git(tree, "rev-list", "--topo-order", "--reverse", f"{good}..{bad}").stdout.split()


@contextmanager
def worktree(tree: Path, commit: str, report: Report) -> Iterator[Worktree]:
    """Make a work tree in the cache, at a commit, and remove it and all that was made in it at the end.

    All bisections of a repository use the same place, one after the other: one that was killed is cleared away.
    Raises WblabError.
    """
    common = git(tree, "rev-parse", "--path-format=absolute", "--git-common-dir").stdout.strip()
    room = cache.room("bisect") / sha256(common.encode()).hexdigest()[:16]
    made = Worktree(room / "tree", room / "objects")
    with cache.locked(room.with_suffix(".lock"), lambda: report(None, "waiting for another bisection of this tree")):
        _remove(tree, made)
        try:
            report(None, "checking out")
            git(tree, "worktree", "add", "--quiet", "--force", "--detach", str(made.tree), commit)
            yield made
        finally:
            _remove(tree, made)


def _remove(tree: Path, made: Worktree) -> None:
    git(tree, "worktree", "remove", "--force", "--force", str(made.tree), allowed=_ANY)  # it need not be there
    shutil.rmtree(made.tree.parent, ignore_errors=True)


_ANY = tuple(range(256))
