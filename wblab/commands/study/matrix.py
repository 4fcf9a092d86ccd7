"""wblab study of a matrix: run every combination of several settings."""

import argparse
import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from wblab.commands.common import note
from wblab.core.errors import InputError
from wblab.lab.designs import MATRIX
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.run import Tally
    from wblab.study.store import Store

_MOST = 34  # seeds of a cell, until it is decided


def make(arguments: argparse.Namespace) -> None:
    """Make a matrix, or resume one."""
    from wblab.commands.many import begun, failed, print_shard
    from wblab.kernels import built_kernels
    from wblab.study.decided import of_cells, run_until_decided
    from wblab.study.run import run_store

    resolve = built_kernels(*arguments.kernel)
    with begun(arguments, resolve, _planned(arguments, resolve)) as (store, client):
        run = partial(run_store, store, client, arguments.jobs)
        tally = run_until_decided(store, question, run, note) if (question := of_cells(store)) else run()
    if store.plan.shard:
        print_shard(store, failed(tally), as_json=arguments.json)
        return
    _print(store, tally, arguments.json)


def names() -> "Iterator[tuple[str, str]]":
    """Yield the name and what it is of those that come with the lab."""
    from wblab.lab.results import MATRICES

    yield from ((name, "a matrix") for name in MATRICES.names())


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    from wblab.analysis.statistics.decision import looks
    from wblab.analysis.statistics.intervals import LEAST_RUNS
    from wblab.commands.many import Planned
    from wblab.kernels import list_kernels
    from wblab.lab.formats import LOOKS
    from wblab.lab.results import MATRICES
    from wblab.study.begin import described, with_kernel, with_part
    from wblab.study.designs.matrix.factorial import read_matrix
    from wblab.study.plan import MAX_RUNS

    if arguments.resume:
        return Planned.again(arguments, MATRIX, resolve)
    if (arguments.seeds or 0) > MAX_RUNS:
        raise InputError(f"--seeds: {arguments.seeds} is not between 1 and {MAX_RUNS}")
    built = [listed.series for listed in list_kernels() if listed.kernel]
    most = arguments.seeds or (_MOST if arguments.until_decided else 0)
    plan = read_matrix(MATRICES.find(arguments.what), built=built, seeds=range(1, most + 1))
    plan = with_part(with_kernel(plan, arguments.kernel), arguments.keep, arguments.shard)
    if arguments.until_decided:
        if arguments.shard:
            raise InputError("--until-decided: what is decided depends on all runs: leave --shard out")
        if most < LEAST_RUNS:
            raise InputError(f"--seeds {most}: --until-decided needs at least {LEAST_RUNS}")
        plan = replace(plan, about={LOOKS: len(looks(most))})
    return Planned(plan, described(plan, resolve))


def _print(store: "Store", tally: "Tally", as_json: bool) -> None:
    from wblab.commands.many import check_failures, failed

    failures = failed(tally)
    total = len(store.plan.runs()) - len(store.missing()) + len(failures)
    if as_json:
        counts = {"runs": total, "done": total - len(failures), "made_now": tally.done, "repeated": tally.repeated}
        print(json.dumps({"directory": str(store.path), **counts, "failures": failures}, indent=2))
    else:
        print(printable(str(store.path)))
    check_failures(store, failures)
