"""wblab matrix: run every combination of several settings."""

import argparse
import json
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, add_removed, add_resume, add_seeds, add_workers
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.run import Tally
    from wblab.study.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Run every combination of a matrix's axes with several seeds, and print its directory."
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="a TOML file, or one of experiments/matrices/")
    add_resume(parser)
    add_seeds(parser, "run every cell with the seeds 1 to N (default: the matrix's)")
    add_exp(parser, "the study's directory goes")
    add_workers(parser)
    add_json(parser, "print the directory, the numbers of runs and the failures as JSON")
    add_removed(parser, "--workers", "--jobs N")
    add_removed(parser, "--scheduler", "--cluster ADDRESS")  # in wblab live it sets the disk's scheduler
    parser.set_defaults(run=_matrix)


def _matrix(arguments: argparse.Namespace) -> None:
    from wblab.commands.many import begun
    from wblab.kernels import built_kernels
    from wblab.study.run import run_store

    resolve = built_kernels(*arguments.kernel)
    with begun(arguments, resolve, _planned(arguments, resolve), "wblab matrix --resume") as (store, client):
        tally = run_store(store, client, arguments.jobs)
    _print(store, tally, arguments.json)


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    from wblab.commands.many import Planned, named
    from wblab.kernels import list_kernels
    from wblab.lab.named import MATRICES
    from wblab.study.begin import check_kernels, described, with_kernel
    from wblab.study.designs.factorial import read_matrix
    from wblab.study.plan import MAX_RUNS
    from wblab.study.store import Store

    if (arguments.spec is None) == (arguments.resume is None):
        raise InputError("give either a matrix, or --resume DIR: see wblab matrix --help")
    if arguments.resume:
        if arguments.seeds is not None:
            raise InputError("--seeds: --resume keeps the seeds of the first call: leave --seeds out")
        store = Store.open(named(arguments, "matrix"), "matrix")
        with_kernel(store.plan, arguments.kernel, begun=True)
        check_kernels(store, resolve)
        return Planned(store.plan, store.kernels, store)
    if (arguments.seeds or 0) > MAX_RUNS:
        raise InputError(f"--seeds: {arguments.seeds} is not between 1 and {MAX_RUNS}")
    built = [listed.series for listed in list_kernels() if listed.kernel]
    plan = read_matrix(MATRICES.find(arguments.spec), built=built, seeds=range(1, (arguments.seeds or 0) + 1))
    plan = with_kernel(plan, arguments.kernel)
    return Planned(plan, described(plan, resolve))


def _print(store: "Store", tally: "Tally", as_json: bool) -> None:
    from wblab.commands.many import failed, print_failures

    total, failures = len(store.plan.runs()), failed(tally)
    if as_json:
        counts = {"runs": total, "done": total - len(failures), "made_now": tally.done, "repeated": tally.repeated}
        print(json.dumps({"directory": str(store.path), **counts, "failures": failures}, indent=2))
    else:
        print(printable(str(store.path)))
    if failures:
        print_failures(store, failures)
        raise WblabError(f"{len(failures)} of {total} runs failed: try again with wblab matrix --resume {store.path}")
