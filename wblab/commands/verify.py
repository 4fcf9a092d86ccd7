"""wblab verify."""

import argparse
import json
import sys
import time
from pathlib import Path

from wblab.core.errors import InputError
from wblab.lab.printable import printable
from wblab.lab.tables import Table


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb to the command."""
    verify = verbs.add_parser(
        "verify",
        help="check the thesis's claims",
        description="Check the thesis's claims on runs made for it, in virtual time, and write a report. "
        "That a claim is not reproduced is a finding, not a failure.",
    )
    verify.add_argument("claims", nargs="*", metavar="CLAIM", help="only these (default: all; --list names them)")
    verify.add_argument("--list", action="store_true", help="print the claims and run nothing")
    verify.add_argument("--kernel", default="", metavar="SERIES|PATH", help="a series (wblab kernel list) or a path")
    verify.add_argument("--seeds", type=int, default=5, metavar="N", help="runs of each case (default: 5)")
    verify.add_argument("--jobs", type=int, metavar="N", help="runs at a time (default: one for each processor)")
    verify.add_argument("-o", "--output", type=Path, metavar="DIR", help="where the report goes (default: in exp/)")
    verify.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    verify.set_defaults(run=_verify)


def _verify(arguments: argparse.Namespace) -> None:
    from wblab.claims.registry import chosen
    from wblab.claims.report import write_report
    from wblab.claims.result import Result, judged, summary, table
    from wblab.claims.runs import jobs, make
    from wblab.host.machine import processors
    from wblab.kernels import built_kernel, full_name, why_left_out
    from wblab.lab.progress import bar

    claims = chosen(arguments.claims)
    if arguments.list:
        Table([(claim.name, f"{claim.says} ({claim.source})") for claim in claims]).show()
        return
    if arguments.seeds < 1 or (arguments.jobs is not None and arguments.jobs < 1):
        raise InputError("--seeds and --jobs must be at least 1")
    kernel = built_kernel(arguments.kernel, given=[arguments.kernel])
    cases = dict.fromkeys(case for claim in claims for case in claim.cases)
    wanted = jobs(cases, arguments.seeds, kernel, full_name(arguments.kernel))
    if said := why_left_out(kernel, dict.fromkeys(event for _, spec in wanted for event in spec.trace.events)):
        print(printable(f"wblab: {said}"), file=sys.stderr)
    directory = _directory(arguments.output, kernel.series)
    started = time.monotonic()
    with bar("verify") as report:
        samples = make(wanted, kernel, directory / "runs", arguments.jobs or processors(), report)
    verdicts = judged(claims, samples)
    result = Result(kernel.describe(), arguments.seeds, time.monotonic() - started, verdicts, samples)
    page = write_report(result, directory)
    if arguments.json:
        print(json.dumps({"report": str(page)} | result.to_json(directory), indent=2))
    else:
        table(result).show()
        print("\n".join(map(printable, [summary(result), str(page)])))


def _directory(output: Path | None, series: str) -> Path:
    """Return the directory of the report, new or empty. Raises InputError."""
    from wblab.lab.specfile import RESULTS

    directory = output or RESULTS / f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_verify-{series}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken = any(directory.iterdir())
    except OSError as error:
        raise InputError(f"cannot make the report's directory {str(directory)!r}: {error.strerror}") from None
    if taken:
        raise InputError(f"{str(directory)!r} is not empty: name a new directory")
    return directory
