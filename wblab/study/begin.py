"""How a study begins or resumes: its plan, its kernels, its directory, and whether its cells can run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.core.tables import to_table
from wblab.host.request import Request, notes, ready, suited
from wblab.kernels import KernelResolver, full_name
from wblab.lab.designs import STUDY_AGAIN
from wblab.lab.results import empty
from wblab.study.asked import StudyRequest
from wblab.study.cluster import check_workers, remote
from wblab.study.plan import Keep, Plan, Shard
from wblab.study.store import Store
from wblab.study.work import Order, own_program, same_kernel

if TYPE_CHECKING:
    from distributed import Client

ROWS_FROM = 300  # runs: a study of more keeps a row of each, and no traces, unless it is told otherwise
Kernels = Mapping[str, Mapping[str, Any]]  # description of each, by its name in the cells


def described(plan: Plan, resolve: KernelResolver) -> Kernels:
    """Return the kernels of a new study. Raises InputError if one is not built."""
    names = dict.fromkeys(cell.spec.kernel.build for cell in plan.cells)
    return {name: resolve(name).describe() for name in names}


def with_kernel(plan: Plan, given: Sequence[str], *, begun: bool = False) -> Plan:
    """Return a plan whose runs use the given kernel, unless its cells name that kernel already.

    given: series, variants or paths. Paths may be run only if they are given, so several are allowed if the cells name
    all of them. begun: whether the study has runs already. Raises InputError if no cell can use a given kernel.
    """
    names = {cell.spec.kernel.name for cell in plan.cells}
    wanted = [name for name in map(full_name, given) if name not in names]
    if not wanted:
        return plan
    if begun or len(given) > 1 or len(names) > 1 or any("kernel" in cell.levels for cell in plan.cells):
        used = ", ".join(sorted(name or "the default kernel" for name in names))
        why = "it was begun with" if begun else "its runs name"
        raise InputError(f"--kernel {wanted[0]}: no run of {plan.name} uses it: {why} {used}: leave --kernel out")
    cells = tuple(replace(cell, spec=cell.spec.on(wanted[0])) for cell in plan.cells)
    return replace(plan, cells=cells)


def with_part(plan: Plan, keep: Keep | None, shard: Shard | None) -> Plan:
    """Return a plan of which only a shard is made, if one is given, and that keeps what is given.

    keep: by default directories, or rows if the whole study has over `ROWS_FROM` runs. Raises InputError for a shard
    without runs, and for rows of runs that cannot be made anew from them.
    """
    runs = len(plan.cells) * len(plan.seeds)
    if shard and shard.of > runs:
        raise InputError(f"--shard {shard}: {plan.name} has {runs} runs: give at most {runs} parts")
    real = next((cell for cell in plan.cells if cell.spec.clock.mode == "real"), None)
    if keep and keep != "traces" and real:
        raise InputError(
            f"--keep {keep}: runs in real time cannot be repeated from a row (the cell {real}): leave it out"
        )
    by_default: Keep = "traces" if real or runs <= ROWS_FROM else "failing"
    return replace(plan, keep=keep or by_default, shard=shard)


def check_kernels(store: Store, resolve: KernelResolver) -> None:
    """Raise InputError unless the kernels may be run and are the builds with which the study began."""
    if unknown := {cell.spec.kernel.build for cell in store.plan.cells} - store.kernels.keys():
        raise InputError(f"{store.path} does not name the build of {min(unknown)!r}: its study.json is damaged")
    for name, kernel in store.kernels.items():
        resolve(name)
        try:
            same_kernel(name, kernel["build_id"], resolve)
        except InputError as error:
            raise InputError(f"{store.path} was begun with another kernel: {error}") from None


def requests(
    plan: Plan, resolve: KernelResolver, *, here: bool, check: Callable[[Spec], None] | None = None
) -> list[Request]:
    """Return a request for each cell. Raises InputError for a cell that is bound to fail.

    here: the runs are made on this machine, which `check` checks; workers elsewhere check themselves.
    """
    found = []
    for cell in plan.cells:
        try:
            kernel = cell.spec.kernel.build
            found.append(ready(cell.spec, resolve, check) if here else suited(cell.spec, resolve(kernel)))
        except InputError as error:
            raise InputError(f"{error} (in the cell {cell})") from None
    return found


def orders(plan: Plan, kernels: Kernels) -> list[Order]:
    """Return an order for each cell, without a seed: workers check whether they can make its runs."""
    return [
        Order(to_table(cell.spec), kernels[cell.spec.kernel.build]["build_id"], own_program()) for cell in plan.cells
    ]


@dataclass(frozen=True)
class Planned:
    """A plan, its kernels by the names that the cells use, and the study's directory.

    store: an existing study; None: a new one is made. beside: further files of a new study, by name. directory: its
    path (default: a directory named after the date, among the results).
    """

    plan: Plan
    kernels: Kernels
    store: Store | None = None
    beside: Mapping[str, bytes] = field(default_factory=dict)
    directory: Path | None = None

    @classmethod
    def new(cls, plan: Plan, resolve: KernelResolver, **further: Any) -> "Planned":
        """Return that of a new study. further: its other fields. Raises InputError if a kernel is not built."""
        return cls(plan, described(plan, resolve), **further)

    @classmethod
    def again(
        cls,
        asked: StudyRequest,
        design: str,
        resolve: KernelResolver,
        check: Callable[[Store], object] = lambda store: None,
    ) -> "Planned":
        """Return that of the study to resume, on its kernels. check: if it is sound. Raises InputError."""
        assert asked.resume
        store = Store.open(asked.resume, design)
        check(store)
        with_kernel(store.plan, asked.kernel, begun=True)
        check_kernels(store, resolve)
        return cls(store.plan, store.kernels, store)

    def opened(self, results: Path) -> Store:
        """Return the study's store. Raises InputError if its directory cannot be made."""
        if self.directory and not self.store:
            return Store.begin(empty(self.directory), self.plan, self.kernels, self.beside)
        return self.store or Store.create(results, self.plan, self.kernels, self.beside)


@contextmanager
def begun(
    asked: StudyRequest, resolve: KernelResolver, planned: Planned, again: str = STUDY_AGAIN
) -> "Iterator[tuple[Store, Client | None]]":
    """Check all cells; then yield the study's directory, locked, and the cluster if there is one.

    again: the command that resumes the study, without its directory; noted if the study ends early. Raises WblabError.
    """
    here = not asked.cluster
    for note in notes(requests(planned.plan, resolve, here=here), here=here, seeds=len(planned.plan.seeds)):
        asked.note(note)
    with ExitStack() as stack:
        client = None if here else stack.enter_context(remote(asked.cluster))
        if client is not None:
            check_workers(client, orders(planned.plan, planned.kernels))
        store = planned.opened(asked.results)
        stack.enter_context(store.held())
        try:
            yield store, client
        except (WblabError, KeyboardInterrupt):
            asked.note(f"to resume: {again} {store.path}")
            raise
