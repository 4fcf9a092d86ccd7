"""wblab study of recommendations: each against the kernel's defaults."""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import note, one_kernel, tell
from wblab.lab.designs import TRIAL
from wblab.report.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.designs.trial.recommendations import Wisdom


def make(arguments: argparse.Namespace) -> None:
    """Try recommendations, or resume that."""
    from wblab.commands.many import begun, check_failures, failed, print_shard
    from wblab.kernels import built_kernels
    from wblab.study.decided import run_until_decided
    from wblab.study.designs.trial.measured import is_refusal
    from wblab.study.designs.trial.report import write_report
    from wblab.study.designs.trial.run import question, result_of
    from wblab.study.run import run_store

    resolve = built_kernels(one_kernel(arguments))
    plan, wisdom = _planned(arguments, resolve)
    with begun(arguments, resolve, plan) as (store, client):
        run = partial(run_store, store, client, arguments.jobs)
        tally = run_until_decided(store, question(store, wisdom), run, note)
        failures = failed(tally, but=is_refusal)
        if store.plan.shard:
            print_shard(store, failures, as_json=arguments.json)
            return
        found, page = write_report(result_of(store, wisdom), store.path)
    tell(found, page, as_json=arguments.json, report=str(page))
    check_failures(store, failures)


def _chosen(arguments: argparse.Namespace) -> "Wisdom":
    from wblab.study.designs.trial.recommendations import read_wisdom

    return read_wisdom(_file(arguments)).only(arguments.parts)


def _file(arguments: argparse.Namespace) -> Path:
    from wblab.study.designs.trial.recommendations import WISDOM

    given = arguments.what
    return WISDOM if given == WISDOM.stem else Path(given)


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "tuple[Planned, Wisdom]":
    """Return the runs to make, and the recommendations that they try. Raises InputError."""
    from wblab.commands.many import Planned
    from wblab.kernels import full_name
    from wblab.lab.formats import TRIED
    from wblab.study.begin import described, with_part
    from wblab.study.designs.trial.plan import MOST_SEEDS, RECOMMENDATION, trial_matrix
    from wblab.study.designs.trial.recommendations import read_wisdom

    if not arguments.resume:
        wisdom = _chosen(arguments)
        kernel = full_name(arguments.kernel[0]) if arguments.kernel else ""
        matrix = with_part(trial_matrix(wisdom, arguments.seeds or MOST_SEEDS, kernel), "traces", arguments.shard)
        tried = {TRIED: _file(arguments).read_bytes()}
        return Planned(matrix, described(matrix, resolve), beside=tried), wisdom
    planned = Planned.again(arguments, TRIAL, resolve)
    assert planned.store
    wisdom = read_wisdom(planned.store.path / TRIED)
    there = {cell.levels.get(RECOMMENDATION) for cell in planned.plan.cells}
    return planned, wisdom.only([key for key in wisdom.values() if key in there])


def names() -> "Iterator[tuple[str, str]]":
    """Yield the name and what it is of those that come with the lab."""
    from wblab.study.designs.trial.recommendations import WISDOM

    yield WISDOM.stem, "recommendations in public use"


def print_parts(arguments: argparse.Namespace) -> None:
    """Print the recommendations of a file, or some of them."""
    values = _chosen(arguments).values().items()
    if arguments.json:
        listed = [
            {
                "recommendation": key,
                "who": entry.who,
                "source": entry.source,
                "set": value.name,
                "says": entry.says,
            }
            for key, (entry, value) in values
        ]
        print(json.dumps(listed, indent=2))
    else:
        rows = [(key, entry.who, value.name, entry.says) for key, (entry, value) in values]
        Listing(rows, ("", "who", "what is set", "what it promises")).show()
