"""wblab runs --clean: remove results, unfinished kernel builds, kept object files and kernels of bisections."""

import argparse
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable
from wblab.report.listing import Listing
from wblab.report.quantities import column, quantity

if TYPE_CHECKING:
    from wblab.analysis.groups.resultlist import ResultEntry

_UNITS_S = {"h": 3600, "d": 86400, "w": 7 * 86400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Show what would be removed and how much space that frees; with --yes, remove it. Never removed: what is in "
        "use, directories that are not the lab's, and the targets of links."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="runs and studies, by their names (wblab runs)")
    parser.add_argument("--failed", action="store_true", help="all that failed or are unfinished")
    parser.add_argument(
        "--older", type=_age_s, metavar="AGE", help="all runs and studies older than this: 36h, 30d or 8w"
    )
    parser.add_argument("--builds", action="store_true", help="unfinished kernel builds")
    parser.add_argument(
        "--bisections", action="store_true", help="object files and kernels that bisections, trees and patches keep"
    )
    parser.add_argument("--yes", action="store_true", help="remove them")
    add_exp(parser, "runs and studies are")
    add_json(parser, "print what is or would be removed as JSON")
    parser.set_defaults(run=_clean)


def _age_s(text: str) -> int:
    match = re.fullmatch(r"(\d{1,6})([hdw])", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not an age: write for example 36h, 30d or 8w")
    return int(match[1]) * _UNITS_S[match[2]]


def _clean(arguments: argparse.Namespace) -> None:
    builds = arguments.builds or arguments.bisections
    if not (arguments.names or arguments.failed or arguments.older is not None or builds):
        raise InputError(
            "nothing to choose from: give names of runs (wblab runs), --failed, --older 30d, --builds or --bisections"
        )
    chosen = [(entry.path, int(entry.size)) for entry in _chosen(arguments)]
    if arguments.builds:
        from wblab.kernels.kept import unfinished

        chosen += unfinished()
    if arguments.bisections:
        from wblab.kernels.kept import kept

        chosen += [(one.path, one.size_bytes) for one in kept()]
    if arguments.yes:
        for path, _ in chosen:
            _remove(path)
    if arguments.json:
        print(json.dumps({"removed": arguments.yes, "paths": {str(path): size for path, size in chosen}}, indent=2))
        return
    if not chosen:
        print("nothing to remove")
        return
    sizes = [size for _, size in chosen]
    texts = column(sizes, "bytes")
    rows = [(str(path), text) for (path, _), text in zip(chosen, texts, strict=True)]
    Listing(rows, right=frozenset({1})).show()
    total = quantity(sum(sizes), "bytes")
    done = "removed" if arguments.yes else "would be removed: add --yes to remove them"
    print(f"{len(chosen)} {'entry' if len(chosen) == 1 else 'entries'}, {total}: {done}")


def _chosen(arguments: argparse.Namespace) -> "list[ResultEntry]":
    """Return the results that the arguments choose. Raises InputError for an unknown name or a result in use."""
    from wblab.analysis.groups.resultlist import entries

    if not (arguments.names or arguments.failed or arguments.older is not None):
        return []
    found = {entry.path.name: entry for entry in entries(results(arguments))}
    for name in arguments.names:
        if name not in found:
            raise InputError(f"no run or study {name!r} in {results(arguments)}: 'wblab runs --all' lists them")
        if found[name].in_use:
            raise InputError(f"{name!r} is in use: wait until it has finished")
    return [
        entry
        for name, entry in found.items()
        if not entry.in_use
        and (
            name in arguments.names
            or (arguments.failed and entry.state in ("failed", "unfinished"))
            or (arguments.older is not None and entry.age_s > arguments.older)
        )
    ]


def _remove(path: Path) -> None:
    try:
        shutil.rmtree(path)  # never follows a link
    except OSError as error:
        raise WblabError(f"cannot remove {printable(str(path))}: {error.strerror or error}") from None
