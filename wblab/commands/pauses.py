"""wblab pauses."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from wblab.commands.common import add_bound, add_exp, add_json, add_run, named_run
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.data.pauses import LoadPauses, PauseReport

_SHOWN = 6  # pauses of a load that the table lists


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Print the pauses of every load of a run."
    add_run(parser)
    add_exp(parser)
    add_bound(parser)
    add_json(parser)
    parser.set_defaults(run=_pauses)


def _pauses(arguments: argparse.Namespace) -> None:
    from wblab.core.units import parse_time
    from wblab.data.pauses import pause_report
    from wblab.data.run import read_run

    bound_ns = parse_time(arguments.bound)
    report = pause_report(read_run(named_run(arguments)), bound_ns)
    if arguments.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        table(report).show()
        for name, unplug_s in report.unplug_s.items():
            print(f"{name}: its disk had everything {unplug_s:.1f} s after its end")
        for name, error in report.errors.items():
            print(f"{name}: ended with an error: {error}")
    if report.reason:
        print(f"wblab: this run did not succeed: {report.reason}", file=sys.stderr)
    if report.control_stall_s:
        print(
            f"wblab: the control load stalled for {report.control_stall_s:.2f} s: this run is noisy, it measured "
            "the host as well: repeat it on a quieter machine or with the virtual clock",
            file=sys.stderr,
        )


def table(report: "PauseReport") -> Table:
    """Return the report as a table."""
    heads = ("load", "kind", "cycles", "duration s", "longest pause", "wait time", "paused s", "paused")
    rows = [
        (
            load.name,
            load.kind,
            f"{load.cycles}",
            f"{load.duration_s:.1f}",
            f"{load.longest_pause_s:.3f} s",
            f"{load.wait_time_s:.3f} s",
            f"{load.paused_s:.2f}",
            f"{load.paused_fraction:.1%}",
            _listed(load),
        )
        for load in report.loads
    ]
    return Table(rows, (*heads, f"pauses over {report.bound_s:g} s, at"), frozenset(range(2, 8)))


def _listed(load: "LoadPauses") -> str:
    if not load.pauses:
        return "-"
    shown = ", ".join(f"{pause.start_s:.1f} s ({pause.duration_s:.1f})" for pause in load.pauses[:_SHOWN])
    more = len(load.pauses) - _SHOWN
    return shown + (f" and {more} more" if more > 0 else "")
