"""What a worker does, on whatever machine it is: run one cell with one seed, and hand back the run directory.

Orders and results are plain values: a worker needs the lab and the kernel, but none of the caller's files.
"""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.host.bundle import program_sha256
from wblab.host.command import interpreter
from wblab.host.request import Request, ready
from wblab.host.run import run_experiment
from wblab.host.turns import turn
from wblab.kernels import Kernel, Shelf, built_kernel
from wblab.lab.progress import silent
from wblab.matrix.store import pack


@dataclass(frozen=True)
class Order:
    """One run to make: the whole spec, as a table, and which build of its kernel and program the caller has."""

    spec: dict[str, Any]
    build_id: str
    program: str

    def unpacked(self) -> Spec:
        """Return the spec."""
        return from_table(Spec, self.spec, exact=True)


@dataclass(frozen=True)
class Result:
    """What became of an order: the run directory as an archive, and the reason if it failed."""

    archive: bytes
    failure: str = ""


@cache
def own_kernel(name: str) -> Kernel:
    """Return this machine's kernel of a name: a path too, as the caller's user has given it. Raises InputError."""
    return built_kernel(name, given=[name])


def same_kernel(name: str, build_id: str, shelf: Shelf) -> Kernel:
    """Return the kernel of a name if it is the caller's build. Raises InputError."""
    kernel = shelf(name)
    if kernel.build_id != build_id:
        raise InputError(
            f"the kernel {name or kernel.series} is another build here ({kernel.build_id[:12]}) than the caller's "
            f"({build_id[:12]}): build it from the same source, or copy the caller's ~/.cache/wblab"
        )
    return kernel


@cache
def own_program() -> str:
    """Return the identity of the program that guests of this machine run: of the lab and its Python."""
    return program_sha256(interpreter())


def check_program(program: str) -> None:
    """Raise InputError where this machine's guests would run another program than the caller's."""
    if own_program() != program:
        raise InputError(
            f"its lab or its Python, {interpreter()}, is another than the caller's: install the same version of both"
        )


def accepted(order: Order, shelf: Shelf) -> Request:
    """Return an order as a request for a run of this machine. Raises InputError where it cannot make that run."""
    check_program(order.program)
    return ready(order.unpacked(), lambda name: same_kernel(name, order.build_id, shelf))


def why_not(orders: list[Order], shelf: Shelf = own_kernel) -> str:
    """Return why this machine cannot run one of the orders, in a line; empty where it can run all."""
    try:
        for order in orders:
            accepted(order, shelf)
    except WblabError as error:
        return str(error)
    return ""


def run(order: Order) -> Result:
    """Run an order on a dask worker, in a directory of the worker's. Never raises for a run that fails."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return run_in(Path(worker.local_directory), order, cancelled)


def run_in(
    room: Path, order: Order, cancelled: Callable[[], bool] = lambda: False, shelf: Shelf = own_kernel
) -> Result:
    """Run an order in a directory of its own in `room`, of which nothing is left. `cancelled` is asked on the way."""

    def report(share: float | None, text: str) -> None:
        silent(share, text)
        if cancelled():
            raise WblabError("cancelled")

    place = Path(tempfile.mkdtemp(prefix="wblab-", dir=room))
    try:
        request = accepted(order, shelf)
        with turn(request.spec.clock.mode, lambda: report(None, "waiting for its turn")):
            finished = run_experiment(request, place, report=report)
        return Result(pack(finished.directory))
    except WblabError as error:
        staged = next(place.glob("_*"), None)
        return Result(pack(staged) if staged else b"", str(error).replace(f" (see {staged})", ""))
    finally:
        shutil.rmtree(place, ignore_errors=True)
