"""wblab export: a run for Perfetto's viewer."""

import argparse
import sys
from pathlib import Path

from wblab.commands.common import add_bound, add_exp, add_removed, add_run, named_run, traced
from wblab.lab.printable import printable

FILE = "trace.perfetto-trace"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Write a run for Perfetto's viewer, https://ui.perfetto.dev. The state of the page cache and the throttling "
        "become counters and slices. All other events become instants, at most 200,000: if there are more, the most "
        "frequent types are left out."
    )
    add_run(parser)
    add_exp(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=f"default: {FILE} in the run")
    parser.add_argument("--format", choices=("perfetto",), default="perfetto", help="default: perfetto")
    add_bound(parser)
    add_removed(parser, "--perfetto", "--format perfetto, or nothing")
    parser.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import read_run
    from wblab.core.units import parse_time

    bound_ns = parse_time(arguments.bound)
    run = read_run(named_run(arguments))
    cache = traced(run, "the export")
    from wblab.analysis.runs.perfetto import MOST_EVENTS, chosen_events, export

    data = export(run, cache, bound_ns)
    output = arguments.output or run.path / FILE
    _write(output, data)
    if cache is not None and (left_out := chosen_events(cache)[1]):
        named = ", ".join(f"{name} ({count:,})" for name, count in left_out.items())
        said = f"wblab: left out, because an export holds at most {MOST_EVENTS:,} such events: {named}"
        print(printable(said), file=sys.stderr)
    if run.failure:
        print(f"wblab: this run did not succeed: {run.failure}", file=sys.stderr)
    print(printable(str(output)))


def _write(path: Path, data: bytes) -> None:
    """Replace a file atomically, so that no viewer opens half of it. Raises WblabError."""
    from wblab.core.errors import WblabError
    from wblab.lab.held import replace_file

    try:
        with replace_file(path) as file:
            file.write(data)
    except OSError as error:
        raise WblabError(f"cannot write {path}: {error.strerror}") from None
