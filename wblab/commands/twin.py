"""wblab twin: repeat a live run in a scaled-down guest, or predict what this machine would do."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_jobs, add_json, add_kernel, add_resume, add_run, add_seeds, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable
from wblab.lab.tables import Table
from wblab.report.metricnames import unit_of
from wblab.report.quantities import interval, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.designs.twin.match import Match

_SEEDS = 5
_SHOWN = {"longest_pause_s": "longest pause", "wait_time_s": "wait time", "paused_fraction": "paused"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Repeat a live run in a guest that is a scaled-down copy of its machine, with several seeds in virtual time, "
        "and compare the pauses. One factor divides memory, dirty thresholds, the disk's rate and the bytes written; "
        "times stay the same. With --from-host there is no live run: the guest predicts what a fast writer would do on "
        "this machine."
    )
    add_run(parser, optional=True, about="a live run: its directory, the directory's name, or 'latest'")
    parser.add_argument(
        "--from-host", type=Path, metavar="DIR", help="copy this machine instead, and measure the disk that holds DIR"
    )
    about = "the disk's model, written by wblab disk measure (default: only its rate, from the live run or measured)"
    parser.add_argument("--disk", metavar="FILE", help=about)
    add_seeds(parser, f"runs of the twin (default: {_SEEDS})")
    add_jobs(parser)
    add_resume(parser)
    add_kernel(parser, "the one marked * in wblab kernel list")
    add_exp(parser, "the study's directory goes")
    add_json(parser)
    parser.set_defaults(run=_twin)


def _twin(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import read_run
    from wblab.commands.many import begun, failed, print_failures
    from wblab.kernels import built_kernels
    from wblab.study.designs.twin.match import matches
    from wblab.study.designs.twin.result import Result
    from wblab.study.designs.twin.runs import read_study, runs_in
    from wblab.study.run import run_store

    resolve = built_kernels(arguments.kernel)
    with begun(arguments, resolve, _planned(arguments, resolve), "wblab twin --resume") as (store, _):
        tally = run_store(store, None, arguments.jobs)
    if tally.failures:
        print_failures(store, failed(tally))
        raise WblabError(f"{len(tally.failures)} runs failed: try again with wblab twin --resume {store.path}")
    study, runs = read_study(store), runs_in(store)
    live = read_run(study.live) if study.live else None
    found = Result(study.machine, study.twin, live, runs, matches(live, runs))
    for note in study.twin.notes:
        print(printable(f"wblab: {note}"), file=sys.stderr)
    if arguments.json:
        print(json.dumps({"directory": str(store.path)} | found.to_json(), indent=2))
    else:
        print("\n".join(map(printable, [*found.about(), ""])))
        _table(found.matches, live is not None).show()
        print("\n".join(map(printable, ["", str(store.path)])))


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    """Plan a twin's runs, or open the study to resume. Raises InputError."""
    from wblab.analysis.runs.run import find_run, read_run
    from wblab.commands.many import Planned, named
    from wblab.kernels import full_name
    from wblab.lab.disks import read_disk
    from wblab.study.begin import check_kernels, described
    from wblab.study.designs.twin.machine import machine_of, this_machine, with_disk
    from wblab.study.designs.twin.runs import plan_of, read_study, twin_study
    from wblab.study.store import Store

    given = (arguments.run_name, arguments.from_host, arguments.resume)
    if sum(item is not None for item in given) != 1:
        raise InputError("give exactly one of these: a live run, --from-host DIR, or --resume DIR")
    if arguments.resume:
        if arguments.seeds or arguments.disk:
            raise InputError("--resume keeps the seeds and the disk of the first call: leave out --seeds and --disk")
        store = Store.open(named(arguments, "twin"), "twin")
        read_study(store)  # refuse a damaged study before its runs start
        check_kernels(store, resolve)
        return Planned(store.plan, store.kernels, store)
    live = read_run(find_run(arguments.run_name, results(arguments))) if arguments.run_name else None
    disk = read_disk(arguments.disk) if arguments.disk else None
    machine = machine_of(live) if live else this_machine(arguments.from_host, disk)
    if live and disk:
        machine = with_disk(machine, disk)
    study = twin_study(machine, live.path if live else None)
    plan = plan_of(study, arguments.seeds or _SEEDS, full_name(arguments.kernel))
    return Planned(plan, described(plan, resolve))


def _table(found: "Sequence[Match]", has_live: bool) -> Table:
    heads = ("load", "metric", *(["live"] if has_live else []), "twin: median (range)", "verdict" if has_live else "")
    rows = []
    for item in found:
        live = [] if item.live is None else [quantity(item.live, unit_of(item.metric))]
        twin = interval(item.median, min(item.twin), max(item.twin), unit_of(item.metric))
        rows.append((item.load, _SHOWN[item.metric], *live, twin, item.outcome or ""))
    return Table(rows, heads)
