"""wblab twin: a live run once more in a guest, or a guess at what this machine would do."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, add_kernel, add_run, add_seeds, results
from wblab.core.errors import InputError
from wblab.lab.printable import printable
from wblab.lab.tables import Table
from wblab.report.metricnames import unit_of
from wblab.report.quantities import interval, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.twin.match import Match

_SHOWN = {"longest_pause_s": "longest pause", "wait_time_s": "wait time", "paused_fraction": "paused"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Make a guest that is a live run's machine, scaled down: memory, thresholds, the disk's rate and what was "
        "written are divided by one factor, times stay. Run it in virtual time, with several seeds, and say whether "
        "the pauses are the same. Without a live run: what would a program that writes fast do here?"
    )
    add_run(parser, optional=True, about="a live run: its directory, the directory's name, or 'latest'")
    parser.add_argument(
        "--from-host", type=Path, metavar="DIR", help="make it from this machine, whose disk below DIR is measured"
    )
    about = "the model of the disk, which wblab disk measure wrote (default: a rate alone, of the run or measured)"
    parser.add_argument("--disk", metavar="FILE", help=about)
    add_seeds(parser, "runs of the twin", default=5)
    add_kernel(parser, "wblab kernel list says which")
    add_exp(parser)
    add_json(parser)
    parser.set_defaults(run=_twin)


def _twin(arguments: argparse.Namespace) -> None:
    from wblab.commands.run import print_notes
    from wblab.data.run import find_run, read_run
    from wblab.kernels import built_kernels, full_name
    from wblab.lab.disks import read_disk
    from wblab.twin.machine import machine_of, this_machine, with_disk
    from wblab.twin.match import matches
    from wblab.twin.result import Result
    from wblab.twin.runs import make, runs_of
    from wblab.twin.scale import twin_of

    directory = results(arguments)
    if (arguments.run_name is None) == (arguments.from_host is None):
        raise InputError("give a live run, or --from-host and a directory on the disk: one of the two")
    live = read_run(find_run(arguments.run_name, directory)) if arguments.run_name else None
    disk = read_disk(arguments.disk) if arguments.disk else None
    machine = machine_of(live) if live else this_machine(arguments.from_host, disk)
    if live and disk:
        machine = with_disk(machine, disk)
    twin = twin_of(machine, "twin")
    requests = runs_of(twin, full_name(arguments.kernel), arguments.seeds, built_kernels(arguments.kernel))
    print_notes(requests)
    runs = make(requests, directory, twin.spec.name)
    found = Result(machine, twin, live, runs, matches(live, runs))
    for note in twin.notes:
        print(printable(f"wblab: {note}"), file=sys.stderr)
    if arguments.json:
        print(json.dumps(found.to_json(), indent=2))
    else:
        print("\n".join(map(printable, [*found.about(), ""])))
        _table(found.matches, live is not None).show()
        print("\n".join(map(printable, ["", *(str(run.path) for run in runs)])))


def _table(found: "Sequence[Match]", has_live: bool) -> Table:
    heads = ("load", "figure", *(["live"] if has_live else []), "twin (least to most)", "verdict" if has_live else "")
    rows = []
    for item in found:
        live = [] if item.live is None else [quantity(item.live, unit_of(item.metric))]
        twin = interval(item.middle, min(item.twin), max(item.twin), unit_of(item.metric))
        rows.append((item.load, _SHOWN[item.metric], *live, twin, item.verdict))
    return Table(rows, heads)
