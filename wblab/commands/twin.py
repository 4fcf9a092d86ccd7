"""wblab twin: a live run once more in a guest, or a guess at what this machine would do."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import InputError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.twin.match import Match

_SHOWN = {"longest_pause_s": "longest pause", "wait_time_s": "wait time", "paused_fraction": "paused"}


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb to the command."""
    twin = verbs.add_parser(
        "twin",
        help="repeat a live run in a guest",
        description="Make a guest that is a live run's machine, scaled down: memory, thresholds, the disk's rate and "
        "what was written are divided by one factor, times stay. Run it in virtual time, with several seeds, and say "
        "whether the pauses are the same. Without a live run: what would a program that writes fast do here?",
    )
    twin.add_argument(
        "run_name", nargs="?", metavar="RUN", help="a run of live_experiment.py: a path, a name or latest"
    )
    twin.add_argument(
        "--from-host", type=Path, metavar="DIR", help="make it from this machine, whose disk below DIR is measured"
    )
    twin.add_argument("--seeds", type=int, default=5, metavar="N", help="runs of the twin (default: 5)")
    twin.add_argument("--kernel", default="", metavar="SERIES|PATH", help="the guest's (wblab kernel list)")
    twin.add_argument("--exp", type=Path, metavar="DIR", help="where runs are (default: exp/ of the lab)")
    twin.add_argument("--json", action="store_true", help="print JSON")
    twin.set_defaults(run=_twin)


def _twin(arguments: argparse.Namespace) -> None:
    from wblab.commands.run import print_notes
    from wblab.data.run import find_run, read_run
    from wblab.kernels import built_kernels, full_name
    from wblab.lab.progress import bar
    from wblab.lab.specfile import RESULTS
    from wblab.twin.machine import machine_of, this_machine
    from wblab.twin.match import matches
    from wblab.twin.result import Result
    from wblab.twin.runs import make, runs_of
    from wblab.twin.scale import twin_of

    results: Path = arguments.exp or RESULTS
    if (arguments.run_name is None) == (arguments.from_host is None):
        raise InputError("give a live run, or --from-host and a directory on the disk: one of the two")
    if arguments.seeds < 1:
        raise InputError("--seeds must be at least 1")
    live = read_run(find_run(arguments.run_name, results)) if arguments.run_name else None
    machine = machine_of(live) if live else this_machine(arguments.from_host)
    twin = twin_of(machine, "twin")
    requests = runs_of(twin, full_name(arguments.kernel), arguments.seeds, built_kernels(arguments.kernel))
    print_notes(requests)
    with bar(twin.spec.name) as report:
        runs = make(requests, results, report)
    found = Result(machine, twin, live, runs, matches(live, runs))
    for note in twin.notes:
        print(printable(f"wblab: {note}"), file=sys.stderr)
    if arguments.json:
        print(json.dumps(found.to_json(), indent=2))
    else:
        paths = (str(run.path) for run in runs)
        lines = [*found.about(), "", *_table(found.matches, live is not None), "", *paths]
        print("\n".join(map(printable, lines)))


def _table(found: "Sequence[Match]", has_live: bool) -> list[str]:
    rows = [("load", "figure", *(["live"] if has_live else []), "twin (least to most)", "verdict" if has_live else "")]
    for item in found:
        live = [] if item.live is None else [_number(item.metric, item.live)]
        spread = f"{_number(item.metric, min(item.twin))} to {_number(item.metric, max(item.twin))}"
        rows.append(
            (item.load, _SHOWN[item.metric], *live, f"{_number(item.metric, item.middle)} ({spread})", item.verdict)
        )
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _number(metric: str, value: float) -> str:
    return f"{value:.1%}" if metric == "paused_fraction" else f"{value:.2f} s"
