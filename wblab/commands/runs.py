"""wblab runs: a list of runs and studies."""

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wblab.commands.common import add_exp, add_json, results, whole
from wblab.lab.printable import printable
from wblab.report.listing import Listing
from wblab.report.quantities import column, duration, size

if TYPE_CHECKING:
    from wblab.analysis.groups.resultlist import ResultEntry

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "List runs and studies: the changes to a preset, the longest pause of an innocent load, and the disk space. "
        "The latest is at the bottom."
    )
    parser.add_argument(
        "--last", type=whole(1), default=_SHOWN, metavar="N", help=f"list the last N (default: {_SHOWN})"
    )
    parser.add_argument("--all", action="store_true", help="list all")
    add_exp(parser, "runs and studies are")
    add_json(parser)
    parser.set_defaults(run=_runs)


def _runs(arguments: argparse.Namespace) -> None:
    from wblab.analysis.groups.resultlist import entries

    place = results(arguments)
    found = entries(place)
    shown = found if arguments.all else found[-arguments.last :]
    if arguments.json:
        print(json.dumps([_object(entry) for entry in shown], indent=2))
        return
    if not found:
        print(printable(f"{place} has no run yet: make one with 'wblab run'"))
        return
    table(shown).show()
    more = f"; these are the last {len(shown)}, --all lists all" if len(shown) < len(found) else ""
    print(f"{len(found)} runs and studies, {size(sum(entry.size for entry in found))}{more}")
    print("    wblab why RUN    # why its loads were stalled")
    print("    wblab runs --clean --help    # remove what you no longer need")


def table(found: "list[ResultEntry]") -> Listing:
    """Return runs and studies as a table."""
    sizes = column([entry.size for entry in found], "bytes")
    rows = [
        (
            entry.path.name,
            "-" if entry.longest_ns is None else duration(entry.longest_ns),
            text,
            _what(entry),
        )
        for entry, text in zip(found, sizes, strict=True)
    ]
    return Listing(rows, ("name", "longest pause", "size", "what"), frozenset({1, 2}), spare=(2,))


def _what(entry: "ResultEntry") -> str:
    """Return what an entry is, its state if it did not succeed, and its changes to a preset."""
    state = "" if entry.state == "succeeded" else f", {entry.state}"
    return f"{entry.what}{state}: {entry.summary}" if entry.summary else f"{entry.what}{state}"


def _object(entry: "ResultEntry") -> dict[str, Any]:
    return asdict(entry) | {"path": str(entry.path)}
