"""wblab finding list."""

import argparse
import json

from wblab.commands.common import add_json
from wblab.lab.tables import Table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "List the findings."
    add_json(parser)
    parser.set_defaults(run=_list)


def _list(arguments: argparse.Namespace) -> None:
    from wblab.study.designs.finding.finding import find, names, read

    found = {name: read(find(name)) for name in names()}
    if arguments.json:
        listed = [
            {"name": name, "title": one.title, "claim": one.claim, "since": one.since} for name, one in found.items()
        ]
        print(json.dumps(listed, indent=2))
        return
    Table([(name, one.title) for name, one in found.items()]).show()
    print("\nMore of one: wblab finding show NAME")
