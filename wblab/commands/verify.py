"""wblab verify."""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_jobs, add_json, add_kernel, add_seeds, results
from wblab.core.errors import InputError
from wblab.lab.formats import RUNS
from wblab.lab.printable import printable
from wblab.lab.results import dated
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.claims.base import Claim
    from wblab.claims.sample import Sample


_WORKS = ("thesis", "li", "chadd", "stephens", "chopper")  # of wblab.claims.registry, which takes long to import


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Check a work's claims, the thesis's by default, on runs made for it, in virtual time, and write a report. "
        "That a claim is not reproduced is a finding, not a failure."
    )
    parser.add_argument("--source", choices=_WORKS, default=_WORKS[0], help="whose claims (default: thesis)")
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help="only these (default: all; --list names them)")
    parser.add_argument("--list", action="store_true", help="print the claims and run nothing")
    add_kernel(parser, "wblab kernel list says which")
    add_seeds(parser, "runs of each case", default=5)
    add_jobs(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="where the report goes (default: a new one)")
    parser.add_argument(
        "--format",
        choices=("png", "svg", "pdf"),
        default="png",
        help="of the figures that lie there beside the page (default: png)",
    )
    add_exp(parser, "new directories of reports go")
    add_json(parser, "print the verdicts, or with --list the claims, as JSON")
    parser.set_defaults(run=_verify)


def _verify(arguments: argparse.Namespace) -> None:
    from wblab.claims.chart import timelines
    from wblab.claims.registry import chosen
    from wblab.claims.report import Shown, keep, write_report
    from wblab.claims.result import Result, summary, table
    from wblab.claims.runs import examine, jobs
    from wblab.commands.run import print_notes
    from wblab.host.machine import processors
    from wblab.kernels import built_kernels, full_name

    claims = chosen(arguments.claims, arguments.source)
    if arguments.list:
        _print_claims(claims, arguments.json)
        return
    shelf = built_kernels(arguments.kernel)
    name = full_name(arguments.kernel)
    kernel = shelf(name)
    cases = dict.fromkeys(case for claim in claims for case in claim.cases)
    wanted = jobs(cases, arguments.seeds, shelf, name)
    print_notes(request for _, request in wanted)
    prefix = "verify" if arguments.source == _WORKS[0] else f"verify-{arguments.source}"
    directory = _directory(arguments.output, results(arguments), f"{prefix}-{kernel.series}")
    started = time.monotonic()

    def draw(case: str, sample: "Sample") -> list[Shown]:
        return [keep(drawn, directory, arguments.format) for drawn in timelines(case, sample)]

    found = examine(claims, wanted, directory / RUNS, arguments.jobs or processors(), draw)
    wall_s = time.monotonic() - started
    result = Result(kernel.describe(), arguments.seeds, wall_s, found.verdicts, found.samples, arguments.source)
    page = write_report(result, directory, arguments.format, found.shown)
    if arguments.json:
        print(json.dumps({"report": str(page)} | result.to_json(directory), indent=2))
    else:
        table(result).show()
        print("\n".join(map(printable, [summary(result), str(page)])))


def _print_claims(claims: "Sequence[Claim]", as_json: bool) -> None:
    if as_json:
        fields = ("name", "says", "source")
        print(json.dumps([{name: getattr(claim, name) for name in fields} for claim in claims], indent=2))
    else:
        Table([(claim.name, f"{claim.says} ({claim.source})") for claim in claims]).show()


def _directory(output: Path | None, reports: Path, name: str) -> Path:
    """Return the directory of the report, new or empty. Raises InputError."""
    directory = output or reports / dated(name)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken = any(directory.iterdir())
    except OSError as error:
        raise InputError(f"cannot make the report's directory {str(directory)!r}: {error.strerror}") from None
    if taken:
        raise InputError(f"{str(directory)!r} is not empty: name a new directory")
    return directory
