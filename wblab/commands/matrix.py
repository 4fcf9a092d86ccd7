"""wblab matrix."""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import add_exp, add_jobs, add_json, add_removed, add_seeds, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from distributed import Client

    from wblab.matrix.plan import Matrix
    from wblab.matrix.run import Tally
    from wblab.matrix.store import Store

_SHOWN = 20  # failures that are listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Run every combination of a matrix's axes with several seeds, and print its directory."
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="a TOML file, or one of experiments/matrices/")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="run what is missing in the directory of a matrix")
    add_seeds(parser, "run every cell with the seeds 1 to N (default: the matrix's)")
    add_exp(parser, "its directory goes")
    parser.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="PATH",
        help="a path that its cells name and may run; again for more",
    )
    where = parser.add_mutually_exclusive_group()
    add_jobs(where)
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a dask.distributed scheduler, whose workers make the runs. Whoever reaches it can run code as you, here "
        "and on the workers: use tls:// with certificates (dask's configuration, distributed.comm.tls), or tcp:// on "
        "a network that you trust",
    )
    add_json(parser, "print directory, numbers and failures as JSON")
    add_removed(parser, "--workers", "--jobs N")
    parser.set_defaults(run=_matrix)


def _matrix(arguments: argparse.Namespace) -> None:
    store, matrix, kernels = _planned(arguments)
    _check(matrix, kernels, arguments.kernel, here=not arguments.scheduler)
    with ExitStack() as stack:
        client = _remote(stack, arguments.scheduler, matrix, kernels) if arguments.scheduler else None
        store = store or _create(arguments, matrix, kernels)
        stack.enter_context(store.held())
        tally = _run(store, client, arguments.jobs)
    _print(store, tally, arguments.json)


def _planned(arguments: argparse.Namespace) -> "tuple[Store | None, Matrix, dict[str, Any]]":
    """Return what is to run, with the kernels by what the cells call them; and its directory if there is one."""
    from wblab.kernels import built_kernel, list_kernels
    from wblab.matrix.plan import MAX_RUNS, find_matrix, read_matrix
    from wblab.matrix.store import Store

    if (arguments.spec is None) == (arguments.resume is None):
        raise InputError("give a matrix, or --resume with its directory: see wblab matrix --help")
    if arguments.resume:
        if arguments.seeds is not None:
            raise InputError("--seeds: a matrix is resumed with the seeds that it was begun with")
        path = next(
            (p for p in (arguments.resume, results(arguments) / arguments.resume) if p.is_dir()), arguments.resume
        )
        store = Store.open(path)
        _check_kernels(store, arguments.kernel)
        return store, store.matrix, store.kernels
    if (arguments.seeds or 0) > MAX_RUNS:
        raise InputError(f"--seeds: {arguments.seeds} is not between 1 and {MAX_RUNS}")
    built = [listed.series for listed in list_kernels() if listed.kernel]
    matrix = read_matrix(find_matrix(arguments.spec), built=built, seeds=range(1, (arguments.seeds or 0) + 1))
    names = dict.fromkeys(cell.spec.kernel for cell in matrix.cells)
    return None, matrix, {name: built_kernel(name, given=arguments.kernel).describe() for name in names}


def _check_kernels(store: "Store", given: list[str]) -> None:
    """Raise InputError unless the kernels are those with which the matrix was begun, and may be run."""
    from wblab.kernels import built_kernel
    from wblab.matrix.work import same_kernel

    if unknown := {cell.spec.kernel for cell in store.matrix.cells} - store.kernels.keys():
        raise InputError(f"{store.path} does not say which build {min(unknown)!r} was: its matrix.json is damaged")
    for name, kernel in store.kernels.items():
        built_kernel(name, given=given)
        try:
            same_kernel(name, kernel["build_id"])
        except InputError as error:
            raise InputError(f"{store.path} was begun with another kernel: {error}") from None


def _check(matrix: "Matrix", kernels: dict[str, Any], given: list[str], *, here: bool) -> None:
    """Raise InputError for what can be known to fail; on a cluster, the workers are asked about themselves."""
    from wblab.host.check import check_kernel, check_run
    from wblab.kernels import built_kernel, why_left_out

    found = {name: built_kernel(name, given=given) for name in kernels}
    for cell in matrix.cells:
        try:
            if here:
                check_run(cell.spec)
            check_kernel(cell.spec, found[cell.spec.kernel])
        except InputError as error:
            raise InputError(f"{error} (in the cell {cell})") from None
    adapted = (why_left_out(found[cell.spec.kernel], cell.spec.trace.events) for cell in matrix.cells)
    for said in filter(None, dict.fromkeys(adapted)):
        print(printable(f"wblab: {said}"), file=sys.stderr)


def _remote(stack: ExitStack, address: str, matrix: "Matrix", kernels: dict[str, Any]) -> "Client":
    from wblab.core.tables import to_table
    from wblab.matrix.cluster import check_workers, remote
    from wblab.matrix.work import Order, own_program

    client = stack.enter_context(remote(address))
    orders = [Order(to_table(cell.spec), kernels[cell.spec.kernel]["build_id"], own_program()) for cell in matrix.cells]
    check_workers(client, orders)
    return client


def _create(arguments: argparse.Namespace, matrix: "Matrix", kernels: dict[str, Any]) -> "Store":
    from wblab.matrix.store import Store

    return Store.create(results(arguments), matrix, kernels)


def _run(store: "Store", client: "Client | None", workers: int | None) -> "Tally":
    """Run what is missing; the table is written whatever happens."""
    from wblab.host.machine import processors
    from wblab.lab.progress import bar
    from wblab.matrix.cluster import local
    from wblab.matrix.run import Runner, Tally

    missing = len(store.missing())
    try:
        if not missing:
            return Tally(0)
        with ExitStack() as stack:
            report = stack.enter_context(bar(store.matrix.name))
            report(None, "starting the workers")
            if client is None:
                client = stack.enter_context(local(min(workers or processors(), missing), store.room()))
            return Runner(store, client, report).run()
    except (WblabError, KeyboardInterrupt) as error:
        print(printable(f"wblab: to go on: wblab matrix --resume {store.path}"), file=sys.stderr)
        raise error
    finally:
        store.write_tables()


def _print(store: "Store", tally: "Tally", as_json: bool) -> None:
    total = len(store.matrix.runs())
    failures = [{"cell": str(item.cell), "seed": item.seed, "reason": reason} for item, reason in tally.failures]
    if as_json:
        counts = {"runs": total, "done": total - len(failures), "made_now": tally.done, "repeated": tally.repeated}
        print(json.dumps({"directory": str(store.path), **counts, "failures": failures}, indent=2))
    else:
        print(printable(str(store.path)))
    if failures:
        for failure in failures[:_SHOWN]:
            print(printable("failed: {cell}, seed {seed}: {reason}".format(**failure)), file=sys.stderr)
        if len(failures) > _SHOWN:
            print(printable(f"and {len(failures) - _SHOWN} more, in {store.runs}/_*"), file=sys.stderr)
        raise WblabError(
            f"{len(failures)} of {total} runs failed: to try them again, wblab matrix --resume {store.path}"
        )
