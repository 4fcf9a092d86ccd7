"""wblab study --merge: put the parts of a study together."""

import argparse
import json
from pathlib import Path

from wblab.commands.common import add_exp, add_json, note, results
from wblab.core.errors import InputError
from wblab.lab.designs import designs
from wblab.lab.printable import printable
from wblab.lab.results import directory_of

_SHOWN = 20  # the most differences that are printed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the form of the verb and its options."""
    parser.description = (
        "Put the parts of a study together that were made with --shard, in a new directory. A run that several parts "
        "have must be the same to the bit in all: otherwise the differences are named, and nothing is merged."
    )
    parser.add_argument("parts", nargs="+", type=Path, metavar="DIR", help="the directories of the parts")
    add_exp(parser, "the study's directory goes")
    add_json(parser)
    parser.set_defaults(run=_merge)


def _merge(arguments: argparse.Namespace) -> None:
    from wblab.lab.progress import bar
    from wblab.study.merge import DifferError, merge

    directory = results(arguments)
    paths = [directory_of(part, directory) for part in arguments.parts]
    if absent := [path for path in paths if not path.is_dir()]:
        raise InputError(f"{str(absent[0])!r} is no directory: name the parts of one study")
    try:
        with bar("merge") as report:
            store = merge(paths, directory, report)
    except DifferError as error:
        for difference in error.differences[:_SHOWN]:
            note(str(difference))
        raise
    runs, missing, design = len(store.plan.runs()), len(store.missing()), designs()[store.plan.design]
    if arguments.json:
        print(json.dumps({"directory": str(store.path), "runs": runs, "missing": missing}, indent=2))
        return
    print(printable(str(store.path)))
    if missing and not design.grows:
        text = f"{missing} of {runs} runs are in no part: wblab study --resume {store.path} makes them"
        note(text)
    else:
        note(f"{runs - missing} runs. Now: {design.report} {store.path}")
