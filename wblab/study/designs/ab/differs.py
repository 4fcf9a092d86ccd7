"""What differs between two kernels besides their figures: source, options, the lab's patches, features."""

import re
from dataclasses import dataclass

from wblab.kernels import Kernel, features
from wblab.kernels.config import parse_config
from wblab.kernels.git import git
from wblab.lab.kernelname import VARIANT, variants_of
from wblab.study.designs.ab.sides import BuiltSide, Patched, Revision, Side

_MOST_COMMITS = 40
_NUMBERED = re.compile(r"^\d{4}-(.*)$")
_OF_USER = re.compile(r"^given-\d{4}-")
_UNSET = "not set"
# Of the build, not of the kernel: they follow from the source and the compiler.
_FOLLOW = ("CONFIG_CC_VERSION_TEXT", "CONFIG_GCC_VERSION", "CONFIG_CLANG_VERSION", "CONFIG_AS_VERSION",
           "CONFIG_LD_VERSION", "CONFIG_LLD_VERSION", "CONFIG_RUSTC_VERSION", "CONFIG_RUSTC_LLVM_VERSION",
           "CONFIG_PAHOLE_VERSION")  # fmt: skip


@dataclass(frozen=True)
class OptionChange:
    """A value in A and in B, such as that of an option."""

    name: str
    a: str
    b: str


@dataclass(frozen=True)
class Differs:
    """What differs between A and B.

    source: in lines: commits or patches with their changes, else the versions. options: of the configuration. only_a,
    only_b: patches of the lab that only one has. features: those that only one has.
    """

    source: tuple[str, ...]
    options: tuple[OptionChange, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    features: tuple[OptionChange, ...]


def differs(sides: tuple[Side, Side], kernels: tuple[Kernel, Kernel]) -> Differs:
    """Return what differs between two built kernels. Raises WblabError if git fails."""
    patches = [
        [_plain(name, side) for name in kernel.patches if not _OF_USER.match(name)]
        for side, kernel in zip(sides, kernels, strict=True)
    ]
    if not all(patches):
        patches = [[], []]  # an executable of the user does not say which patches it was built with: see _source
    has = [set(features(kernel)) for kernel in kernels]
    known = [name for kernel in kernels for name in features(kernel)]
    return Differs(
        source=tuple(_source(sides, kernels)),
        options=tuple(options(*(_config(kernel) for kernel in kernels))),
        only_a=tuple(name for name in patches[0] if name not in patches[1]),
        only_b=tuple(name for name in patches[1] if name not in patches[0]),
        features=tuple(
            OptionChange(name, *("yes" if name in one else "no" for one in has))
            for name in dict.fromkeys(known)
            if (name in has[0]) != (name in has[1])
        ),
    )


def options(a: str, b: str) -> list[OptionChange]:
    """Return the options that differ between two .config files, without the versions of the build's tools."""
    one, other = parse_config(a), parse_config(b)
    names = sorted({*one, *other} - {*_FOLLOW})
    return [
        OptionChange(name, one.get(name, _UNSET), other.get(name, _UNSET))
        for name in names
        if one.get(name) != other.get(name)
    ]


def _source(sides: tuple[Side, Side], kernels: tuple[Kernel, Kernel]) -> list[str]:
    a, b = sides
    if isinstance(a, Revision) and isinstance(b, Revision) and a.tree == b.tree:
        return _commits(a, b)
    if isinstance(b, Patched):
        before = a.patches if isinstance(a, Patched) and a.base == b.base else ()
        if a == b.base or before == b.patches[: len(before)] != ():
            return [_patch(item.subject, item.changes) for item in b.patches[len(before) :]]
    lines = []
    for name, side, kernel in zip("AB", sides, kernels, strict=True):
        lines.append(f"{name}: Linux {kernel.release}, {kernel.source}")
        if isinstance(side, Patched):
            lines += [f"{name}, with: {_patch(item.subject, item.changes)}" for item in side.patches]
    unsaid = [name for name, kernel in zip("AB", kernels, strict=True) if not kernel.patches]
    if unsaid:
        return [*lines, f"{' and '.join(unsaid)}: an executable does not say which patches of the lab it has"]
    if kernels[0].compiler != kernels[1].compiler:
        lines += [f"{name}, compiler: {kernel.compiler}" for name, kernel in zip("AB", kernels, strict=True)]
    return lines


def _commits(a: Revision, b: Revision) -> list[str]:
    ends = f"{a.commit.hash}..{b.commit.hash}"
    listed = git(b.tree, "log", "--format=%h %s", "--abbrev=12", f"--max-count={_MOST_COMMITS}", ends).stdout
    count = int(git(b.tree, "rev-list", "--count", ends).stdout)
    behind = int(git(b.tree, "rev-list", "--count", f"{b.commit.hash}..{a.commit.hash}").stdout)
    stat = git(b.tree, "diff", "--shortstat", a.commit.hash, b.commit.hash).stdout.strip() or "no file changed"
    lines = listed.splitlines()
    lines += [f"and {count - len(lines)} more commits"] if count > len(lines) else []
    lines += [f"{behind} commit{'s' * (behind != 1)} of A {'are' if behind != 1 else 'is'} not in B"] if behind else []
    return [*lines, f"in all: {stat}"]


def _patch(subject: str, changes: dict[str, tuple[int, int]]) -> str:
    each = ", ".join(f"{name} +{added} -{removed}" for name, (added, removed) in changes.items())
    return f"{subject} ({each})"


def _plain(name: str, side: Side) -> str:
    """Return a patch's name without its number, which differs between series; for that of a variant, the variant's."""
    if found := _NUMBERED.match(name):
        return found[1]
    variants = variants_of(side.name) if isinstance(side, BuiltSide) else ""
    return f"{variants.removeprefix(VARIANT)}.patch" if variants else name


def _config(kernel: Kernel) -> str:
    try:
        return kernel.config.read_text(errors="replace") if kernel.config else ""
    except OSError:
        return ""
