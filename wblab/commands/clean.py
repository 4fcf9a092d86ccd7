"""wblab clean: remove results, and what builds of kernels left unfinished."""

import argparse
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.data.results import Entry

_MB = 1e6
_UNITS_S = {"h": 3600, "d": 86400, "w": 7 * 86400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Show what would be removed and how much space that frees; with --yes, remove it. What a process works on, "
        "what is no directory of the lab's, and what a link leads to is never removed."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="runs and studies, by their names (wblab runs)")
    parser.add_argument("--failed", action="store_true", help="all that failed, or was left unfinished")
    parser.add_argument(
        "--older", type=_age_s, metavar="AGE", help="all runs and studies that are older: 36h, 30d or 8w"
    )
    parser.add_argument("--builds", action="store_true", help="kernel builds that were never finished")
    parser.add_argument("--yes", action="store_true", help="remove them")
    add_exp(parser, "runs and studies are")
    add_json(parser, "print what is removed, or would be, as JSON")
    parser.set_defaults(run=_clean)


def _age_s(text: str) -> int:
    match = re.fullmatch(r"(\d{1,6})([hdw])", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no age: write for example 36h, 30d or 8w")
    return int(match[1]) * _UNITS_S[match[2]]


def _clean(arguments: argparse.Namespace) -> None:
    if not (arguments.names or arguments.failed or arguments.older is not None or arguments.builds):
        raise InputError(
            "say what: names of runs (wblab runs), --failed, --older 30d or --builds: see wblab clean --help"
        )
    chosen = [(entry.path, int(entry.size)) for entry in _chosen(arguments)]
    if arguments.builds:
        from wblab.kernels.unfinished import unfinished

        chosen += unfinished()
    if arguments.yes:
        for path, _ in chosen:
            _remove(path)
    if arguments.json:
        print(json.dumps({"removed": arguments.yes, "paths": {str(path): size for path, size in chosen}}, indent=2))
        return
    if not chosen:
        print("nothing to remove")
        return
    Table([(str(path), f"{size / _MB:.1f} MB") for path, size in chosen], right=frozenset({1})).show()
    total = sum(size for _, size in chosen) / _MB
    done = "removed" if arguments.yes else "would be removed: the same with --yes does it"
    print(f"{len(chosen)} with {total:.1f} MB {done}")


def _chosen(arguments: argparse.Namespace) -> "list[Entry]":
    """Return what the arguments choose of the results. Raises InputError for a name of nothing or of what is in use."""
    from wblab.data.results import entries

    if not (arguments.names or arguments.failed or arguments.older is not None):
        return []
    found = {entry.path.name: entry for entry in entries(results(arguments))}
    for name in arguments.names:
        if name not in found:
            raise InputError(f"{name!r} is no run and no study in {results(arguments)}: wblab runs --all lists them")
        if found[name].in_use:
            raise InputError(f"{name!r} is in use: wait for its end")
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
        shutil.rmtree(path)  # it never follows a link
    except OSError as error:
        raise WblabError(f"cannot remove {printable(str(path))}: {error.strerror or error}") from None
