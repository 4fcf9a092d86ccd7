"""wblab matrix."""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, add_removed, add_seeds, add_where, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Collection

    from distributed import Client

    from wblab.kernels import Shelf
    from wblab.matrix.begin import Kernels
    from wblab.matrix.plan import Matrix
    from wblab.matrix.run import Tally
    from wblab.matrix.store import Store
    from wblab.matrix.workers import Workers

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
    add_where(parser)
    add_json(parser, "print directory, numbers and failures as JSON")
    add_removed(parser, "--workers", "--jobs N")
    add_removed(parser, "--scheduler", "--cluster ADDRESS")  # of live it is the disk's
    parser.set_defaults(run=_matrix)


def _matrix(arguments: argparse.Namespace) -> None:
    from wblab.commands.run import print_notes
    from wblab.host.machine import processors
    from wblab.kernels import built_kernels
    from wblab.matrix.begin import orders, requests
    from wblab.matrix.cluster import check_workers, remote
    from wblab.matrix.store import Store

    shelf, here = built_kernels(*arguments.kernel), not arguments.cluster
    store, matrix, kernels = _planned(arguments, shelf)
    print_notes(requests(matrix, shelf, here=here), here=here)
    with ExitStack() as stack:
        client = None if here else stack.enter_context(remote(arguments.cluster))
        if client is not None:
            check_workers(client, orders(matrix, kernels))
        store = store or Store.create(results(arguments), matrix, kernels)
        stack.enter_context(store.held())
        tally = run_store(store, client, arguments.jobs or processors())
    _print(store, tally, arguments.json)


def resumed(arguments: argparse.Namespace) -> Path:
    """Return the directory that --resume names: a path, or one of the results."""
    given: Path = arguments.resume
    return next((path for path in (given, results(arguments) / given) if path.is_dir()), given)


def _planned(arguments: argparse.Namespace, shelf: "Shelf") -> "tuple[Store | None, Matrix, Kernels]":
    """Return what is to run, with the kernels by what the cells call them; and its directory if there is one."""
    from wblab.kernels import list_kernels
    from wblab.matrix.begin import check_kernels, described
    from wblab.matrix.plan import MAX_RUNS, find_matrix, read_matrix
    from wblab.matrix.store import Store

    if (arguments.spec is None) == (arguments.resume is None):
        raise InputError("give a matrix, or --resume with its directory: see wblab matrix --help")
    if arguments.resume:
        if arguments.seeds is not None:
            raise InputError("--seeds: a matrix is resumed with the seeds that it was begun with")
        store = Store.open(resumed(arguments))
        check_kernels(store, shelf)
        return store, store.matrix, store.kernels
    if (arguments.seeds or 0) > MAX_RUNS:
        raise InputError(f"--seeds: {arguments.seeds} is not between 1 and {MAX_RUNS}")
    built = [listed.series for listed in list_kernels() if listed.kernel]
    matrix = read_matrix(find_matrix(arguments.spec), built=built, seeds=range(1, (arguments.seeds or 0) + 1))
    return None, matrix, described(matrix, shelf)


def run_store(
    store: "Store", client: "Client | None", at_once: int, wanted: "Collection[str] | None" = None, verb: str = "matrix"
) -> "Tally":
    """Run what is missing, or of that the wanted runs, with progress; if that ends early, say how to go on.

    verb: what goes on with it.
    """
    from wblab.lab.progress import bar
    from wblab.matrix.cluster import Cluster
    from wblab.matrix.forked import forked
    from wblab.matrix.run import run_missing
    from wblab.matrix.work import warm

    try:
        with ExitStack() as stack:
            if client is not None:
                workers: Workers = Cluster(client)
            else:
                warm(store.kernels)
                workers = stack.enter_context(forked(min(at_once, len(store.missing(wanted))), store.room()))
            return run_missing(store, workers, stack.enter_context(bar(store.matrix.name)), wanted)  # it has a thread
    except (WblabError, KeyboardInterrupt):
        print(printable(f"wblab: to go on: wblab {verb} --resume {store.path}"), file=sys.stderr)
        raise


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
