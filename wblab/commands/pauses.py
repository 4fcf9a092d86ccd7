"""wblab pauses."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.lab.printable import printable
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.data.pagecache import PageCache
    from wblab.data.pauses import LoadPauses, PauseReport
    from wblab.data.run import Run
    from wblab.data.window import Window

_SHOWN = 6  # pauses of a load that the table lists


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verbs to the command."""
    pauses = verbs.add_parser("pauses", help="print a run's pauses", description="Print the pauses of every load.")
    add_run_argument(pauses)
    pauses.add_argument(
        "--bound", default="300ms", metavar="TIME", help="list pauses longer than this (default: 300ms)"
    )
    pauses.add_argument("--json", action="store_true", help="print JSON")
    pauses.set_defaults(run=_pauses)


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a run."""
    parser.add_argument("directory", metavar="RUN", help="a run directory, its name, or 'latest'")
    parser.add_argument("--exp", type=Path, metavar="DIR", help="where run directories are (default: exp/ of the lab)")


def named_run(arguments: argparse.Namespace) -> Path:
    """Return the directory of the run that the arguments name. Raises InputError."""
    from wblab.data.run import find_run
    from wblab.lab.specfile import RESULTS

    return find_run(arguments.directory, arguments.exp or RESULTS)


def traced(run: "Run", what: str, window: "Window | None" = None) -> "PageCache | None":
    """Return what a run's trace tells; None without one, and a line says what `what` lacks where one was wanted.

    In a window that the flight recorder of a live run has saved, it is all that was recorded there.
    """
    from wblab.core.errors import InputError
    from wblab.data.captures import capture_of
    from wblab.data.pagecache import page_cache

    try:
        if window and (capture := capture_of(run, window)):
            return page_cache(run, capture.path)
        return page_cache(run) if run.spec.trace.events else None
    except InputError as error:
        print(printable(f"wblab: {what} shows the loads alone: {error}"), file=sys.stderr)
        return None


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
    if report.reason:
        print(f"wblab: this run did not succeed: {report.reason}", file=sys.stderr)
    if report.control_stall_s:
        print(
            f"wblab: the control load stalled for {report.control_stall_s:.2f} s: this run measured the host as well, "
            "repeat it on a quieter machine or with the virtual clock",
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
