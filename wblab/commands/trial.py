"""wblab trial."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import (
    add_exp,
    add_json,
    add_kernel,
    add_resume,
    add_seeds,
    add_shard,
    add_where,
    print_wrapped,
)
from wblab.core.errors import InputError, WblabError
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.designs.paired.recommendations import Wisdom
    from wblab.study.designs.paired.result import Result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Try recommendations for writeback settings against the kernel's defaults, and judge whether each does what "
        "it promises: reproduced, not reproduced, harms, or not decided. Each is scaled to the guest in two ways. All "
        "start with 5 seeds; undecided ones get more."
    )
    parser.add_argument(
        "numbers", nargs="*", metavar="NUMBER", help="only these, such as 7 or 21e (default: all; --list names them)"
    )
    parser.add_argument("--list", action="store_true", help="print the recommendations and run nothing")
    parser.add_argument(
        "--file",
        type=Path,
        metavar="FILE",
        help="a file of your own recommendations (example: experiments/trials/folk-wisdom.toml)",
    )
    add_resume(parser)
    add_kernel(parser, "the one marked * in wblab kernel list")
    add_seeds(parser, "at most this many runs of each recommendation (default: 20)")
    add_exp(parser, "its directory goes")
    add_where(parser)
    add_shard(parser)
    add_json(parser, "print the verdicts, or with --list the recommendations, as JSON")
    parser.set_defaults(run=_trial)


def _trial(arguments: argparse.Namespace) -> None:
    from wblab.commands.many import begun, print_shard
    from wblab.kernels import built_kernels
    from wblab.study.designs.paired.measured import is_refusal
    from wblab.study.designs.paired.report import write_report
    from wblab.study.designs.paired.run import result_of, run_rounds

    if arguments.list:
        _print_list(_chosen(arguments), arguments.json)
        return
    resolve = built_kernels(arguments.kernel)
    plan, wisdom = _planned(arguments, resolve)
    with begun(arguments, resolve, plan, "wblab trial --resume") as (store, client):
        failed = run_rounds(store, wisdom, client, arguments.jobs, _tell)
        if store.plan.shard:
            print_shard(store, _failures(failed), "wblab trial --resume", as_json=arguments.json)
            return
        result = result_of(store, wisdom)
        page = write_report(result, store.path)
    _print(result, page, arguments.json)
    if said := [f"{name}: {reason}" for name, reason in failed.items() if not is_refusal(reason)]:
        again = f"try again with wblab trial --resume {store.path}"
        raise WblabError(f"{len(said)} runs failed; the first: {said[0]}: {again}")


def _failures(reasons: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return failed runs as JSON has them. reasons: by name; a kernel's refusal of a setting is none."""
    from wblab.study.designs.paired.measured import is_refusal

    names = {name: name.rpartition("-s") for name, reason in reasons.items() if not is_refusal(reason)}
    return [{"cell": cell, "seed": int(seed), "reason": reasons[name]} for name, (cell, _, seed) in names.items()]


def _tell(what: str) -> None:
    print(f"wblab: {what}", file=sys.stderr)


def _chosen(arguments: argparse.Namespace) -> "Wisdom":
    from wblab.study.designs.paired.recommendations import WISDOM, read_wisdom

    return read_wisdom(arguments.file or WISDOM).only(arguments.numbers)


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "tuple[Planned, Wisdom]":
    """Return the runs to make, and the recommendations that they try. Raises InputError."""
    from wblab.commands.many import Planned, named
    from wblab.kernels import full_name
    from wblab.lab.formats import TRIED
    from wblab.study.begin import check_kernels, described, with_part
    from wblab.study.designs.paired.plan import MOST_SEEDS, RECOMMENDATION, trial_matrix
    from wblab.study.designs.paired.recommendations import WISDOM, read_wisdom
    from wblab.study.store import Store

    if not arguments.resume:
        wisdom = _chosen(arguments)
        kernel = full_name(arguments.kernel) if arguments.kernel else ""
        matrix = with_part(trial_matrix(wisdom, arguments.seeds or MOST_SEEDS, kernel), "traces", arguments.shard)
        tried = {TRIED: (arguments.file or WISDOM).read_bytes()}
        return Planned(matrix, described(matrix, resolve), beside=tried), wisdom
    if any((arguments.numbers, arguments.file, arguments.seeds, arguments.shard)):  # --kernel permits a path again
        raise InputError("--resume keeps the plan of the first call: leave out NUMBER, --file, --seeds and --shard")
    store = Store.open(named(arguments, "trial"), "trial")
    check_kernels(store, resolve)
    wisdom = read_wisdom(store.path / TRIED)
    there = {cell.levels.get(RECOMMENDATION) for cell in store.plan.cells}
    return Planned(store.plan, store.kernels, store), wisdom.only([key for key in wisdom.values() if key in there])


def _print_list(wisdom: "Wisdom", as_json: bool) -> None:
    values = wisdom.values().items()
    if as_json:
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
        Table(rows, ("", "who", "what is set", "what it promises")).show()


def _print(result: "Result", page: Path, as_json: bool) -> None:
    from wblab.study.designs.paired.words import asked_lines, terminal_table
    from wblab.study.designs.witness.words import confirmed

    if as_json:
        print(json.dumps({"report": str(page)} | result.to_json(), indent=2))
        return
    terminal_table(result.rows, result.wisdom).show()
    print_wrapped([*asked_lines(result.answers, result.wisdom), "", *confirmed(_keys(result)), "", str(page)])


def _keys(result: "Result") -> list[str]:
    """Return the keys that the tried recommendations set."""
    values = result.wisdom.values()
    return [
        key for row in result.rows for each in (values[row.key][1],) for key in (*each.sysctl, *each.bdi, *each.queue)
    ]
