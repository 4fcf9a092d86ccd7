"""What is looked at before a matrix begins or goes on: its kernels, and whether its cells can run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wblab.core.errors import InputError
from wblab.core.tables import to_table
from wblab.host.request import Request, ready, suited
from wblab.kernels import KernelResolver, full_name
from wblab.study.plan import Plan
from wblab.study.store import Store
from wblab.study.work import Order, own_program, same_kernel

Kernels = Mapping[str, Mapping[str, Any]]  # what is recorded of each, by what the cells call it


def described(plan: Plan, resolve: KernelResolver) -> Kernels:
    """Return the kernels of a matrix that is to begin. Raises InputError for one that is not built."""
    names = dict.fromkeys(cell.spec.kernel for cell in plan.cells)
    return {name: resolve(name).describe() for name in names}


def with_kernel(plan: Plan, given: Sequence[str], *, begun: bool = False) -> Plan:
    """Return a matrix whose runs use the kernel that is given, where its cells do not name it already.

    given: series, variants or paths; several only of those that its cells name, as paths may be run only if they are
    given. begun: whether it has runs already. Raises InputError for what no cell can use.
    """
    names = {cell.spec.kernel for cell in plan.cells}
    wanted = [name for name in map(full_name, given) if name not in names]
    if not wanted:
        return plan
    if begun or len(given) > 1 or len(names) > 1 or any("kernel" in cell.levels for cell in plan.cells):
        told = ", ".join(sorted(name or "the default kernel" for name in names))
        why = "it was begun with" if begun else "its runs name"
        raise InputError(f"--kernel {wanted[0]}: no run of {plan.name} uses it: {why} {told}: leave --kernel out")
    cells = tuple(replace(cell, spec=replace(cell.spec, kernel=wanted[0])) for cell in plan.cells)
    return replace(plan, cells=cells)


def check_kernels(store: Store, resolve: KernelResolver) -> None:
    """Raise InputError unless the kernels are those with which a matrix was begun, and may be run."""
    if unknown := {cell.spec.kernel for cell in store.plan.cells} - store.kernels.keys():
        raise InputError(f"{store.path} does not say which build {min(unknown)!r} was: its study.json is damaged")
    for name, kernel in store.kernels.items():
        resolve(name)
        try:
            same_kernel(name, kernel["build_id"], resolve)
        except InputError as error:
            raise InputError(f"{store.path} was begun with another kernel: {error}") from None


def requests(plan: Plan, resolve: KernelResolver, *, here: bool) -> list[Request]:
    """Return a request for each cell. Raises InputError for what can be known to fail.

    here: the runs are made on this machine; workers elsewhere are asked about themselves.
    """
    found = []
    for cell in plan.cells:
        try:
            found.append(ready(cell.spec, resolve) if here else suited(cell.spec, resolve(cell.spec.kernel)))
        except InputError as error:
            raise InputError(f"{error} (in the cell {cell})") from None
    return found


def orders(plan: Plan, kernels: Kernels) -> list[Order]:
    """Return an order for each cell, without a seed, for workers to say whether they could make that run."""
    return [Order(to_table(cell.spec), kernels[cell.spec.kernel]["build_id"], own_program()) for cell in plan.cells]
