"""The kernels of the sides, built one after the other. What cannot be applied is found before the first build."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from wblab.analysis.groups.observations import read_table
from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import read_run
from wblab.analysis.statistics.decision import for_looks, looks
from wblab.core.errors import InputError, WblabError
from wblab.core.tables import to_table
from wblab.kernels import Kernel, KernelResolver, build_kernel, build_tree
from wblab.kernels.build import Say
from wblab.kernels.patched import Base, base, base_of_tree
from wblab.lab.progress import Report, steps
from wblab.study import work
from wblab.study.cells import Cell, run_name
from wblab.study.decided import Open, SeedQuestion
from wblab.study.designs.ab.figures import ComparedFigures, figures, undecided
from wblab.study.designs.ab.plan import Pair
from wblab.study.designs.ab.sides import BuiltSide, Patched, Revision, Side
from wblab.study.designs.bisect.repository import Worktree, worktree
from wblab.study.store import Store

# What decides a comparison of kernels: both sides of each pair get more seeds until their differences are decided.


def question(store: Store, pairs: Sequence[Pair]) -> SeedQuestion:
    """Return the question whether the two cells of each pair differ."""

    def look() -> Open:
        still = undecided(measured(store, pairs))
        cells = {cell.name: cell for pair in still for cell in (pair.before, pair.after)}
        return Open(cells.values(), f"{len(still)} of {len(pairs)} comparisons of a spec are not decided")

    return SeedQuestion(looks(len(store.plan.seeds)), look)


def measured(store: Store, pairs: Sequence[Pair]) -> ComparedFigures:
    """Return the figures of a study's runs. Raises InputError if it has none."""
    return figures(read_table(store.path), pairs, for_looks(len(looks(len(store.plan.seeds)))))


# Whether runs repeat to the bit here: one run of each kernel is made again, and every cycle and event compared.


@dataclass(frozen=True)
class RepeatedRuns:
    """Runs that were made twice. same: those that were identical; other: those that were not, or failed."""

    same: tuple[str, ...]
    other: tuple[str, ...]


def repeat(store: Store, cells: Sequence[Cell], resolve: KernelResolver) -> RepeatedRuns:
    """Repeat the first run of each cell that has one and is in virtual time. Raises WblabError."""
    seed = store.plan.seeds[0]
    names = {run_name(cell, seed): cell for cell in cells if cell.spec.clock.mode == "virtual"}
    there = {name: cell for name, cell in names.items() if (store.runs / name).is_dir()}
    with TemporaryDirectory(dir=store.room()) as room, steps("repeating") as report:
        found = {}
        for name, cell in there.items():
            report(None, name)
            found[name] = _is_same(store, cell, seed, Path(room), resolve)
    same = tuple(name for name, is_same in found.items() if is_same)
    return RepeatedRuns(same, tuple(name for name in found if name not in same))


def _is_same(store: Store, cell: Cell, seed: int, room: Path, resolve: KernelResolver) -> bool:
    build_id = str(store.kernels[cell.spec.kernel.build]["build_id"])
    order = work.Order(to_table(cell.with_seed(seed)), build_id, work.own_program(), digest=True)
    again = work.run_in(room, order, accept=partial(work.accepted, resolve=resolve)).digest
    try:
        return bool(again) and again == digest(read_run(store.runs / run_name(cell, seed)))
    except WblabError:
        return False


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

    def of(self, side: BuiltSide | Revision, report: Report) -> Base:
        """Return the source that patches are for."""
        if isinstance(side, BuiltSide):
            return base(side.name, report)
        made = self.checked_out(side, report)
        return base_of_tree(made.tree, _said(side), made.objects)


def _built(side: Side, sources: _Sources, report: Report, say: Say) -> Kernel:
    if isinstance(side, BuiltSide):
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
