"""wblab doctor: check what the lab needs on this machine."""

import argparse
import json
from typing import TYPE_CHECKING

from wblab.commands.common import add_json
from wblab.core.errors import WblabError
from wblab.report.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.host.diagnosis import Check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Check whether this machine can run the lab, and print a remedy for each finding. BAD: no run works without "
        "this. --: only some verbs need it."
    )
    add_json(parser, "print the findings as JSON")
    parser.set_defaults(run=_doctor)


def _doctor(arguments: argparse.Namespace) -> None:
    from wblab.host.diagnosis import examine

    show(examine(), as_json=arguments.json)


def show(findings: "Sequence[Check]", *, as_json: bool) -> None:
    """Print findings, and the next command. Raises WblabError if one of them keeps the lab from running here."""
    from wblab.host.diagnosis import bad, next_command

    if as_json:
        print(json.dumps([finding.to_json() for finding in findings], indent=2))
    else:
        table(findings).show()
    if count := len(bad(findings)):
        raise WblabError(f"{count} of {len(findings)} checks failed: see the lines marked BAD")
    if not as_json:
        print(f"\nNext:\n    {next_command(findings)}")


def table(findings: "Sequence[Check]") -> Listing:
    """Return findings as a table, with what to do: BAD is what every run needs, -- what only some verbs do."""
    rows = []
    last = {finding.advice: finding for finding in findings if not finding.good}  # one advice may mend several
    for finding in findings:
        rows.append(("ok" if finding.good else "BAD" if finding.needed else "--", finding.check, finding.found))
        if not finding.good and last[finding.advice] is finding:
            rows.append(("", "", f"-> {finding.advice}"))
    return Listing(rows)
