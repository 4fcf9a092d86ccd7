"""wblab finding show, list and export."""

import argparse
import json
from pathlib import Path

from wblab.commands.common import add_json, tell
from wblab.lab.printable import printable
from wblab.report.listing import Listing


def export_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Write a finding as a directory for a kernel mailing list: a mail, a shell script that shows it without the "
        "lab, all figures, a trace, and the patches. Nothing is sent or signed: a person reviews it and does both."
    )
    parser.add_argument("name", metavar="NAME", help="a finding: see wblab finding list")
    parser.add_argument("directory", type=Path, metavar="DIR", help="a new or an empty directory")
    add_json(parser, "print the files' names as JSON")
    parser.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> None:
    from wblab.claims.finding.export import check_exported, export
    from wblab.claims.finding.finding import find
    from wblab.lab.results import empty

    check_exported(find(arguments.name))
    directory = empty(arguments.directory)
    about = export(arguments.name, directory)
    if arguments.json:
        print(json.dumps({"directory": str(directory), "files": list(about)}, indent=2))
        return
    Listing(list(about.items())).show()
    print(printable(str(directory)))


def list_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "List the findings."
    add_json(parser)
    parser.set_defaults(run=_list)


def _list(arguments: argparse.Namespace) -> None:
    from wblab.claims.finding.finding import find, names, read

    found = {name: read(find(name)) for name in names()}
    if arguments.json:
        listed = [
            {"name": name, "title": one.title, "claim": one.claim, "since": one.since} for name, one in found.items()
        ]
        print(json.dumps(listed, indent=2))
        return
    Listing([(name, one.title) for name, one in found.items()]).show()
    print("\nMore of one: wblab finding show NAME")


def show_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Say what a finding is: the claim, the figures that show it, what was confirmed outside of User Mode Linux, "
        "who pays, since when, and what to do. The figures are those that come with the lab; wblab study makes "
        "them again."
    )
    parser.add_argument("name", metavar="NAME", help="a finding: see wblab finding list")
    add_json(parser)
    parser.set_defaults(run=_show)


def _show(arguments: argparse.Namespace) -> None:
    from wblab.claims.finding import kept
    from wblab.claims.finding.finding import find, read
    from wblab.claims.finding.report import report

    directory = find(arguments.name)
    tell(report(arguments.name, read(directory), kept.read(directory)), as_json=arguments.json)
