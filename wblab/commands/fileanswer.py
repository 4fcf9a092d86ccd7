"""What `wblab why FILE` prints of a file that is no run: the report of the wing that reads such files."""

import argparse
from pathlib import Path

from wblab.commands.common import note, tell
from wblab.core.errors import InputError
from wblab.core.units import parse_time
from wblab.lab.wings import needed
from wblab.report.report import Report


def explain(arguments: argparse.Namespace) -> None:
    """Explain the file that the arguments name, as text, as JSON or as a page. Raises InputError."""
    for option in ("load", "pause", "prove", "suspect", "remedy"):
        if getattr(arguments, option):
            raise InputError(f"--{option} is for runs, and {arguments.run_name!r} is a file: leave it out")
    if arguments.html and arguments.json:
        raise InputError("--html cannot be combined with --json: call 'wblab why' once for each")
    file = arguments.run_name
    found: Report = needed("a file of another machine explained")(
        file,
        tasks=arguments.task,
        span_ns=tuple(parse_time(text) if text else None for text in (arguments.begin, arguments.end)),
        bound_ns=parse_time(arguments.bound),
        is_evidence=arguments.evidence and not arguments.json,
    )
    if arguments.html:
        from wblab.report.page import write

        name = "standard-input" if file == "-" else Path(file).name
        print(write(found, Path(f"{name}.why.html")))
        note("the page is in this directory")
    else:
        tell(found, as_json=arguments.json)
