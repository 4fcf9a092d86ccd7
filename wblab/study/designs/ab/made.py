"""The kernels of the sides, built one after the other. What cannot be applied is found before the first build."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from wblab.core.errors import InputError, WblabError
from wblab.kernels import Kernel, build_kernel, build_tree
from wblab.kernels.build import Say
from wblab.kernels.patched import Base, base, base_of_tree
from wblab.lab.progress import Report, steps
from wblab.study.designs.ab.sides import Named, Patched, Revision, Side
from wblab.study.designs.bisection.repository import Worktree, worktree


def build_all(sides: Sequence[Side], say: Say) -> list[Kernel]:
    """Return the kernel of each side. Raises InputError for a patch that does not apply, and WblabError."""
    with ExitStack() as stack:
        sources = _Sources(stack)
        last = {side.base: side for side in sides if isinstance(side, Patched)}  # of a series of patches, all of them
        for patched in last.values():
            with steps(f"patches of {patched.label}") as report:
                sources.of(patched.base, report).check(patched.patches)
        kernels = []
        for side in sides:
            with steps(side.label) as report:
                try:
                    kernels.append(_built(side, sources, report, say))
                except InputError:
                    raise
                except WblabError as error:
                    raise WblabError(f"{side.label} cannot be built: {error}") from None
    return kernels


@dataclass
class _Sources:
    """Sources to build from; of a repository one work tree, for all its commits."""

    stack: ExitStack
    trees: dict[str, Worktree] = field(default_factory=dict)

    def checked_out(self, side: Revision, report: Report) -> Worktree:
        """Return the work tree of a repository, with a commit checked out."""
        key = str(side.tree)
        if key not in self.trees:
            self.trees[key] = self.stack.enter_context(worktree(side.tree, side.commit.hash, report))
        self.trees[key].checkout(side.commit.hash, report)
        return self.trees[key]

    def of(self, side: Named | Revision, report: Report) -> Base:
        """Return the source that patches are for."""
        if isinstance(side, Named):
            return base(side.name, report)
        made = self.checked_out(side, report)
        return base_of_tree(made.tree, _said(side), made.objects)


def _built(side: Side, sources: _Sources, report: Report, say: Say) -> Kernel:
    if isinstance(side, Named):
        return build_kernel(side.name, report=report, say=say)
    if isinstance(side, Revision):
        made = sources.checked_out(side, report)
        return build_tree(made.tree, _said(side), made.objects, report=report, say=say)
    return sources.of(side.base, report).build(side.patches, report, say)


def _said(side: Revision) -> str:
    return f"{side.tree} ({side.label})"


def check_unequal(a: Side, b: Side) -> None:
    """Raise InputError if A and B name the same: then nothing need be built to see it."""
    if a == b:
        raise InputError(f"A and B are both {a.label}: there is nothing to compare")


def check_differ(sides: Sequence[Side], kernels: Sequence[Kernel]) -> None:
    """Raise InputError if A and B are the same build."""
    if kernels[0].build_id == kernels[-1].build_id:
        said = f"A, {sides[0].label}, and B, {sides[-1].label}, are the same build"
        raise InputError(f"{said} ({kernels[0].build_id[:12]}): there is nothing to compare")
