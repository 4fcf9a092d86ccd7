"""wblab finding show."""

import argparse

from wblab.commands.common import add_json, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
    from wblab.study.designs.finding import kept
    from wblab.study.designs.finding.finding import find, read
    from wblab.study.designs.finding.report import report

    directory = find(arguments.name)
    tell(report(arguments.name, read(directory), kept.read(directory)), as_json=arguments.json)
