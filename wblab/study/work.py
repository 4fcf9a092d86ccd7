"""The work of a worker, on any machine: make the run of one cell and seed, and return the run directory.

Orders and results are plain values: a worker needs the lab and the kernel, but no files of the caller.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.host.bundle import program_sha256
from wblab.host.command import interpreter
from wblab.host.machine import describe_host, machine_lock
from wblab.host.place import place_of
from wblab.host.recorded import Finished, RunFailedError
from wblab.host.request import Request, make_run, ready
from wblab.kernels import Kernel, KernelResolver, built_kernel
from wblab.lab.progress import Report, silent
from wblab.study.plan import Further
from wblab.study.rowfile import rows_of_run
from wblab.study.store import pack

if TYPE_CHECKING:
    from wblab.analysis.runs.metrics import Row

_LONGEST_REASON = 300

Make = Callable[[Request, Path, Report], Finished]


@dataclass(frozen=True)
class Order:
    """One run to make: its spec as a table, and the caller's builds of the kernel and the guest's program.

    metrics: optional ones for the table. may_lose: the trace may lose events. digest: whether to compute the digest of
    the measurements. kernel: if a worker cannot find it by name.
    """

    spec: dict[str, Any]
    build_id: str
    program: str
    metrics: tuple[Further, ...] = ()
    may_lose: bool = False
    digest: bool = False
    kernel: Kernel | None = None

    def unpacked(self) -> Spec:
        """Return the spec."""
        return from_table(Spec, self.spec, exact=True)


@dataclass(frozen=True)
class WorkResult:
    """The result of an order.

    left: the run directory, or its archive from another machine; empty if there is none. failure: the reason if it
    failed. rows: its metrics, if they could be read. digest: of its measurements, if ordered.
    """

    left: Path | bytes = b""
    failure: str = ""
    rows: "list[Row] | None" = None
    digest: str = ""


@cache
def own_kernel(name: str) -> Kernel:
    """Return this machine's kernel of a name; a path is allowed, because the user gave it. Raises InputError."""
    return built_kernel(name, given=[name])


def same_kernel(name: str, build_id: str, resolve: KernelResolver) -> Kernel:
    """Return the kernel of a name. Raises InputError if it is another build than the caller's."""
    kernel = resolve(name)
    if not place_of(kernel).boots and kernel.build_id != build_id:
        raise InputError(f"{name}: this is another machine, or its kernel is another one now ({kernel.release})")
    if kernel.build_id != build_id:
        raise InputError(
            f"the kernel {name or kernel.series} is another build here ({kernel.build_id[:12]}) than the caller's "
            f"({build_id[:12]}): build it from the same source, or copy the caller's ~/.cache/wblab"
        )
    return kernel


@cache
def own_program() -> str:
    """Return the digest of the program that this machine's guests run: the lab and its Python."""
    return program_sha256(interpreter())


def check_program(program: str) -> None:
    """Raise InputError if this machine's guests would run another program than the caller's."""
    if own_program() != program:
        raise InputError(
            f"its lab or its Python, {interpreter()}, differs from the caller's: install the same version of both"
        )


def accepted(
    order: Order, resolve: KernelResolver = own_kernel, check: Callable[[Spec], None] | None = None
) -> Request:
    """Return the request of an order. Raises InputError if this machine cannot make that run.

    check: raises InputError for a spec that cannot run here.
    """
    check_program(order.program)
    return ready(order.unpacked(), lambda name: order.kernel or same_kernel(name, order.build_id, resolve), check)


Accept = Callable[[Order], Request]


def why_not(orders: list[Order], accept: Accept = accepted) -> str:
    """Return in one line why this machine cannot run an order; empty if it can run all. accept: checks each."""
    try:
        for order in orders:
            accept(order)
    except WblabError as error:
        return str(error)
    return ""


def warm(names: Iterable[str]) -> None:
    """Compute what all runs on these kernels need, so that forks inherit it. Raises InputError."""
    own_program()
    describe_host()
    for name in names:
        own_kernel(name)


def run(order: Order, worker: Any = None, accept: Accept = accepted, make: Make = make_run) -> WorkResult:
    """Run an order on a dask worker, in a temporary directory. Never raises for a run that fails.

    worker: by default, the one that this is called on. accept, make: see `run_in`.
    """
    if worker is None:
        from distributed import get_worker

        worker = get_worker()
    key = worker.get_current_task()

    def report(share: float | None, text: str) -> None:
        silent(share, text)
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise WblabError("cancelled")

    place = Path(tempfile.mkdtemp(prefix="wblab-", dir=worker.local_directory))
    try:
        result = run_in(place, order, report, accept, make)
        return replace(result, left=pack(result.left)) if isinstance(result.left, Path) else result
    finally:
        shutil.rmtree(place, ignore_errors=True)


def run_in(
    room: Path, order: Order, report: Report = silent, accept: Accept = accepted, make: Make = make_run
) -> WorkResult:
    """Run an order in a new directory of `room`, which is kept. An error raised by `report` ends the run.

    accept: returns the order's request. make: makes its run. Never raises for a run that fails.
    """
    try:
        request = accept(order)
        with machine_lock(request.spec.clock.mode, lambda: report(None, "waiting for its turn")):
            return _result(make(request, room, report).directory, order)  # inside: a run in real time needs the machine
    except RunFailedError as error:
        if order.may_lose and error.directory and lost_events(error.directory):
            return _result(error.directory, order)
        return WorkResult(error.directory or b"", str(error).replace(f" (see {error.directory})", ""))
    except WblabError as error:
        return WorkResult(failure=str(error))


def lost_events(directory: Path) -> bool:
    """Whether the trace of the run in a directory lost events."""
    from wblab.analysis.runs.pagecache import events_lost
    from wblab.analysis.runs.run import read_run

    try:
        return events_lost(read_run(directory)) > 0
    except InputError:
        return False


def _result(directory: Path, order: Order) -> WorkResult:
    """Return a run with its metrics, and its digest if ordered; without them if it cannot be read."""
    from wblab.analysis.runs.digest import digest
    from wblab.analysis.runs.run import read_run

    try:
        run = read_run(directory)
        rows = rows_of_run(run, order.metrics)
        return WorkResult(directory, rows=rows, digest=digest(run) if order.digest else "")
    except WblabError:
        return WorkResult(directory)


def unforeseen(error: Exception) -> WorkResult:
    """Return the result of an order that ended with an unexpected error."""
    return WorkResult(failure=f"{type(error).__name__}: {' '.join(str(error).split())[:_LONGEST_REASON]}")
