"""What is compared: A and B as the user names them, and the steps from one to the other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from wblab.core.errors import InputError, WblabError
from wblab.kernels import catalog, kernel
from wblab.kernels.build import result
from wblab.kernels.git import git
from wblab.kernels.mailbox import SUFFIXES, UserPatch, read_patches
from wblab.kernels.source import is_archive
from wblab.lab import cache
from wblab.study.designs.bisect.bisection import short
from wblab.study.designs.bisect.repository import GitCommit, find_commit

MOST_STEPS = 100
_RANGE = re.compile(r"(\S+?)\.\.(\S+)")
_BUILD_ID = re.compile(r"[0-9a-f]{16,64}")


@dataclass(frozen=True)
class BuiltSide:
    """A kernel that `wblab kernel build` takes: a series, or the path of a tree, an archive or an executable."""

    name: str

    @property
    def label(self) -> str:
        """A short name."""
        return self.name if catalog.load().knows(self.name) else Path(self.name).name


@dataclass(frozen=True)
class Revision:
    """A commit of a git repository."""

    tree: Path
    commit: GitCommit

    @property
    def label(self) -> str:
        """A short name."""
        return short(self.commit.hash)


@dataclass(frozen=True)
class Patched:
    """Patches on a kernel's source, in order."""

    base: BuiltSide | Revision
    patches: tuple[UserPatch, ...]

    @property
    def label(self) -> str:
        """A short name."""
        last = self.patches[-1]
        stem = last.patch.name.removesuffix(".patch").split("-", 2)[-1]
        return (
            f"{self.base.label}+{stem}" if len(self.patches) == 1 else f"{self.base.label}+{len(self.patches)} patches"
        )


Side: TypeAlias = BuiltSide | Revision | Patched


def sides(given: Sequence[str], tree: Path, base: str = "") -> tuple[Side, Side]:
    """Return A and B. given: both, or a range of commits. tree: the repository. base: of patches. Raises InputError."""
    if len(given) == 1:
        ends = _RANGE.fullmatch(given[0])
        if not ends or Path(given[0]).exists():
            raise InputError(f"{given[0]!r} is one kernel: give two, A and B, or a range of commits, FROM..TO")
        if base:
            raise InputError("--base is for patches, and a range of commits has none: leave it out")
        first, last = (_revision(tree, end) for end in ends.groups())
        return first, last
    a, b = (_read(text, tree) for text in given)
    on = _read(base, tree) if base else None
    if isinstance(on, tuple):
        raise InputError(f"--base {base} is of patches: give a series, a tree or a commit")
    if base and not isinstance(a, tuple) and not isinstance(b, tuple):
        raise InputError(f"--base {base} is for patches, and neither A nor B is a file or a directory of them")
    return _on(a, on or b, given[0]), _on(b, on or a, given[1])


def steps(a: Side, b: Side) -> tuple[Side, ...]:
    """Return A, and the state after each patch or commit up to B. Raises InputError if there is no way."""
    if isinstance(a, Revision) and isinstance(b, Revision):
        if git(a.tree, "merge-base", "--is-ancestor", a.commit.hash, b.commit.hash, allowed=(0, 1)).returncode:
            raise InputError(
                f"--each: A, {a.label}, is not an ancestor of B, {b.label}: there are no steps between them"
            )
        # A merge is one step, so that each commit is compared with its parent.
        listed = git(a.tree, "rev-list", "--first-parent", "--reverse", f"{a.commit.hash}..{b.commit.hash}")
        between = (Revision(b.tree, find_commit(b.tree, commit)) for commit in listed.stdout.split())
        found: tuple[Side, ...] = (a, *between)
    elif isinstance(b, Patched) and b.base == a:
        found = (a, *(replace(b, patches=b.patches[:count]) for count in range(1, len(b.patches) + 1)))
    else:
        raise InputError("--each needs patches on A, or a range of commits: there are no steps between A and B")
    if len(found) > MOST_STEPS + 1:
        raise InputError(f"--each: {len(found) - 1} steps are too many: at most {MOST_STEPS}")
    return found


def subject(side: Side) -> str:
    """Return what the last step to a side is about: of a commit or a patch its subject; else its name."""
    if isinstance(side, Revision):
        return side.commit.subject
    return side.patches[-1].subject if isinstance(side, Patched) else side.label


def _on(read: "Side | tuple[UserPatch, ...]", base: "Side | tuple[UserPatch, ...]", text: str) -> Side:
    if not isinstance(read, tuple):
        return read
    if isinstance(base, tuple | Patched):
        raise InputError(f"{text} is of patches: name the kernel that they are for with --base")
    return Patched(base, read)


def _read(text: str, tree: Path) -> "BuiltSide | Revision | tuple[UserPatch, ...]":
    """Return what a text names; of patches only these. Raises InputError."""
    if catalog.load().knows(text):
        catalog.load().find(text)
        return BuiltSide(text)
    path = Path(text).expanduser()
    if path.is_dir():
        return BuiltSide(str(path.resolve())) if (path / "Makefile").is_file() else read_patches(path)
    if kernel.is_executable(path) or is_archive(path):
        return BuiltSide(str(path.resolve()))
    if path.is_file():
        return read_patches(path)
    if path.suffix in SUFFIXES or text.startswith(("/", "./", "~")):
        raise InputError(f"no kernel, tree or patches at {text!r}: check the path")
    if _BUILD_ID.fullmatch(text) and (built := kernel.load(result(text))):
        return BuiltSide(str(built.path))
    try:
        commit = find_commit(tree, text)
    except WblabError:
        raise InputError(
            f"{text!r} is no series (wblab kernel list), build id, path of a kernel or patches, nor a commit of "
            f"{str(tree)!r}: give one of them, or name the repository with --tree"
        ) from None
    return _with_kernel(Revision(tree.resolve(), commit))


def _revision(tree: Path, revision: str) -> Revision:
    return _with_kernel(Revision(tree.resolve(), find_commit(tree, revision)))


def _with_kernel(side: Revision) -> Revision:
    """Return a revision. Raises InputError if it is no kernel's."""
    if git(side.tree, "cat-file", "-e", f"{side.commit.hash}:arch/um", allowed=(0, 128)).returncode:
        raise InputError(f"{side.label} of {side.tree} is not a kernel's commit: it has no arch/um")
    return side


def cached(name: str) -> bool:
    """Whether the path of a kernel is a build in the user's own cache; others may run only if the user names them."""
    return Path(name).resolve().is_relative_to((cache.home() / "builds").resolve())
