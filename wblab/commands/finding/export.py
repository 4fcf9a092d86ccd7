"""wblab finding export."""

import argparse
import json
from pathlib import Path

from wblab.commands.common import add_json
from wblab.lab.printable import printable
from wblab.lab.tables import Table


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
    from wblab.commands.many import empty
    from wblab.study.designs.finding.export import check_exported, export
    from wblab.study.designs.finding.finding import find

    check_exported(find(arguments.name))
    directory = empty(arguments.directory)
    about = export(arguments.name, directory)
    if arguments.json:
        print(json.dumps({"directory": str(directory), "files": list(about)}, indent=2))
        return
    Table(list(about.items())).show()
    print(printable(str(directory)))
