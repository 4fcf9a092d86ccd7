"""wblab audit: make a random part of a study again, and compare."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, add_resume, add_workers, directory_of, results, whole
from wblab.core.errors import WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.store import Store

_SHOWN = 20  # the most runs that are listed
_DEFAULT = 0.01
_AUDITS = "audits"  # a directory of its own: an audit is not among the studies


class DifferentError(WblabError):
    """Some runs are not the same, or could not be made again."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Make a random part of a study's runs again, here or on a cluster, and say which share is identical to the "
        "bit. Of those that differ, name the inputs that were others."
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="the directory of a study, or its name")
    parser.add_argument(
        "--share",
        type=_share,
        default=_DEFAULT,
        metavar="PERCENT",
        help="how many of the runs (default: 1%%; at least one)",
    )
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="which runs are chosen (default: 0)")
    add_resume(parser)
    add_exp(parser, f"the study is, and the directory {_AUDITS} of the audit's own")
    add_workers(parser)
    add_json(parser)
    parser.set_defaults(run=_audit)


def _audit(arguments: argparse.Namespace) -> None:
    from wblab.commands.many import begun
    from wblab.kernels import built_kernels
    from wblab.study.cells import run_name
    from wblab.study.designs.repeat.audit import chosen, judged, lines
    from wblab.study.run import run_store
    from wblab.study.store import Store

    path = directory_of(arguments.study, results(arguments))
    store = Store.open(path)
    arguments.exp = results(arguments) / _AUDITS
    resolve = built_kernels(*arguments.kernel)
    plan = _planned(arguments, store, resolve)
    with begun(arguments, resolve, plan, f"wblab audit {path} --resume") as (again, client):
        tally = run_store(again, client, arguments.jobs, chosen(again.plan))
    failures = {run_name(item.cell, item.seed): reason for item, reason in tally.failures}
    found = judged(store, again, failures)
    if arguments.json:
        rate, low, high = found.rate if found.compared else (None, None, None)
        about = {"study": str(path), "directory": str(again.path), "runs": found.runs, "compared": found.compared}
        about |= {"identical": len(found.same), "rate": rate, "low": low, "high": high}
        print(json.dumps(about | {"different": found.differing, "failed": found.failed}, indent=2))
    else:
        print("\n".join(map(printable, [*lines(found, _SHOWN), str(again.path)])))
    if found.differing or found.failed:
        bad = len(found.differing) + len(found.failed)
        raise DifferentError(f"{bad} of {len(chosen(again.plan))} runs are not the same, or failed")


def _planned(arguments: argparse.Namespace, store: "Store", resolve: "KernelResolver") -> "Planned":
    from wblab.commands.many import Planned, named
    from wblab.study.begin import check_kernels, described
    from wblab.study.designs.repeat.audit import audit_plan
    from wblab.study.store import Store

    if arguments.resume:
        again = Store.open(named(arguments, "audit"), "audit")
        check_kernels(again, resolve)
        return Planned(again.plan, again.kernels, again)
    plan = audit_plan(store, arguments.share, arguments.seed)
    return Planned(plan, described(plan, resolve))


def _share(text: str) -> float:
    """Read a share such as 1% or 0.5%. Raises ArgumentTypeError."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not text.endswith("%") or not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share: give a percentage over 0, such as 1%")
    return share
