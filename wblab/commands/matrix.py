"""wblab matrix: run every combination of several settings."""

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_exp,
    add_json,
    add_keep,
    add_removed,
    add_resume,
    add_seeds,
    add_shard,
    add_workers,
)
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.run import Tally
    from wblab.study.store import Store

_MOST = 34  # seeds of a cell, until it is decided


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Run every combination of a matrix's axes with several seeds, and print its directory."
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="a TOML file, or one of experiments/matrices/")
    add_resume(parser)
    add_seeds(parser, "run every cell with the seeds 1 to N (default: the matrix's)")
    parser.add_argument(
        "--until-decided",
        action="store_true",
        help="run a cell with 3, 5, 8, 13 … seeds, at most N, until its differences from the first cell are decided: "
        f"claimed, or shown to be less than a twentieth (default of --seeds: {_MOST})",
    )
    add_exp(parser, "the study's directory goes")
    add_workers(parser)
    add_keep(parser)
    add_shard(parser)
    add_json(parser, "print the directory, the numbers of runs and the failures as JSON")
    add_removed(parser, "--workers", "--jobs N")
    add_removed(parser, "--scheduler", "--cluster ADDRESS")  # in wblab live it sets the disk's scheduler
    parser.set_defaults(run=_matrix)


def _matrix(arguments: argparse.Namespace) -> None:
    from wblab.commands.many import begun, failed, print_shard
    from wblab.kernels import built_kernels
    from wblab.lab.formats import LOOKS
    from wblab.study.designs.decided import run_until_decided
    from wblab.study.run import run_store

    resolve = built_kernels(*arguments.kernel)
    with begun(arguments, resolve, _planned(arguments, resolve), "wblab matrix --resume") as (store, client):
        if LOOKS in store.plan.about:
            tally = run_until_decided(store, client, arguments.jobs, _tell)
        else:
            tally = run_store(store, client, arguments.jobs)
    if store.plan.shard:
        print_shard(store, failed(tally), "wblab matrix --resume", as_json=arguments.json)
        return
    _print(store, tally, arguments.json)


def _tell(what: str) -> None:
    print(printable(f"wblab: {what}"), file=sys.stderr)


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    from wblab.analysis.statistics.intervals import LEAST_RUNS
    from wblab.analysis.statistics.looks import looks
    from wblab.commands.many import Planned, named
    from wblab.kernels import list_kernels
    from wblab.lab.formats import LOOKS
    from wblab.lab.named import MATRICES
    from wblab.study.begin import check_kernels, described, with_kernel, with_part
    from wblab.study.designs.factorial import read_matrix
    from wblab.study.plan import MAX_RUNS
    from wblab.study.store import Store

    if (arguments.spec is None) == (arguments.resume is None):
        raise InputError("give either a matrix, or --resume DIR: see wblab matrix --help")
    if arguments.resume:
        if arguments.seeds is not None or arguments.until_decided or arguments.keep or arguments.shard:
            raise InputError("--resume keeps the plan of the first call: give neither seeds, nor --keep and --shard")
        store = Store.open(named(arguments, "matrix"), "matrix")
        with_kernel(store.plan, arguments.kernel, begun=True)
        check_kernels(store, resolve)
        return Planned(store.plan, store.kernels, store)
    if (arguments.seeds or 0) > MAX_RUNS:
        raise InputError(f"--seeds: {arguments.seeds} is not between 1 and {MAX_RUNS}")
    built = [listed.series for listed in list_kernels() if listed.kernel]
    most = arguments.seeds or (_MOST if arguments.until_decided else 0)
    plan = read_matrix(MATRICES.find(arguments.spec), built=built, seeds=range(1, most + 1))
    plan = with_part(with_kernel(plan, arguments.kernel), arguments.keep, arguments.shard)
    if arguments.until_decided:
        if arguments.shard:
            raise InputError("--until-decided: what is decided depends on all runs: leave --shard out")
        if most < LEAST_RUNS:
            raise InputError(f"--seeds {most}: --until-decided needs at least {LEAST_RUNS}")
        plan = replace(plan, about={LOOKS: len(looks(most))})
    return Planned(plan, described(plan, resolve))


def _print(store: "Store", tally: "Tally", as_json: bool) -> None:
    from wblab.commands.many import failed, print_failures

    failures = failed(tally)
    total = len(store.plan.runs()) - len(store.missing()) + len(failures)
    if as_json:
        counts = {"runs": total, "done": total - len(failures), "made_now": tally.done, "repeated": tally.repeated}
        print(json.dumps({"directory": str(store.path), **counts, "failures": failures}, indent=2))
    else:
        print(printable(str(store.path)))
    if failures:
        print_failures(store, failures)
        raise WblabError(f"{len(failures)} of {total} runs failed: try again with wblab matrix --resume {store.path}")
