"""wblab open: what a file of 'wblab pack' holds; keep it."""

import argparse
import json
import os
import shlex
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, note, print_wrapped, results, tell
from wblab.lab.printable import printable
from wblab.lab.wings import offered

if TYPE_CHECKING:
    from wblab.analysis.runs.run import Run
    from wblab.publish.bundle.read import Opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Check a file of 'wblab pack' and print what it holds: runs, their spec, kernel and pauses. It may come from "
        "anybody: nothing in it is run, and a damaged or false one is refused. Only 'wblab repeat FILE' shows that its "
        "measurements are true: it makes a run of it here, in a confined guest, and compares the two. Of a recorder's "
        "file it prints what is in it, and keeps it as it is."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a file of 'wblab pack', or a recorder's")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--to", type=Path, metavar="DIR", help="write it as a directory, which must not exist")
    where.add_argument("--keep", action="store_true", help="write it into the directory of results, under its own name")
    parser.add_argument(
        "--run", metavar="RUN", dest="one", help="of a study, this run: its name, or CELL/SEED (default: the first)"
    )
    add_exp(parser, "results go")
    add_json(parser)
    parser.set_defaults(run=_open)


def _open(arguments: argparse.Namespace) -> None:
    from wblab.lab.progress import bar
    from wblab.publish.bundle.read import opened

    look_at = offered("a recorder's file kept")
    if look_at and (report := look_at(arguments.file, partial(_room_of_file, arguments))):
        tell(report, as_json=arguments.json)
        return
    with ExitStack() as stack:
        with bar(arguments.file.name) as report:
            found = stack.enter_context(opened(arguments.file, _room(arguments), report))
        _show_and_keep(found, arguments)


def _room_of_file(arguments: argparse.Namespace) -> Path | None:
    """Return the directory in which a file is to be kept as it is; None if it is not. Raises InputError."""
    from wblab.publish.bundle.keep import room_in

    room = arguments.to or (results(arguments) if arguments.keep else None)
    return room_in(room) if room else None


def _show_and_keep(found: "Opened", arguments: argparse.Namespace) -> None:
    """Show a run or a study, and keep it if asked to."""
    from wblab.publish.bundle.about import PackedRun
    from wblab.publish.bundle.words import chosen, reworded

    name, item = chosen(found, arguments.one)
    run = item.read() if isinstance(item, PackedRun) else None
    kept = _kept(found, arguments)
    for line in reworded(found):
        note(line)
    _show(found, name, run, kept, arguments)


def _kept(found: "Opened", arguments: argparse.Namespace) -> Path | None:
    """Write the files to where they are to be kept, and return that; None if they are not. Raises InputError."""
    from wblab.publish.bundle.keep import keep_as, keep_in

    if arguments.to:
        return keep_as(found, arguments.to)
    return keep_in(found, results(arguments)) if arguments.keep else None


def _room(arguments: argparse.Namespace) -> Path | None:
    """Return the directory that the files are going to be in; None if they are not kept. Raises InputError."""
    from wblab.publish.bundle.keep import room_in

    if not (arguments.to or arguments.keep):
        return None
    return room_in(Path(os.path.abspath(arguments.to)).parent if arguments.to else results(arguments))


def _show(found: "Opened", name: str, run: "Run | None", kept: Path | None, arguments: argparse.Namespace) -> None:
    """Print what a bundle is, and what to do next."""
    from wblab.analysis.runs.pauses import pause_report
    from wblab.publish.bundle.words import head, run_lines, runs_table
    from wblab.report.pausetext import table

    if arguments.json:
        _show_json(found, kept)
        return
    print_wrapped(head(found))
    if found.rows or (found.kind == "study" and not arguments.one):
        print()
        runs, more = runs_table(found)
        runs.show()
        if more:
            print(f"and {more:,} more" + ("" if found.rows else ": --json lists all"))
    else:
        print_wrapped([*run_lines(found.runs[name], run), ""])
        if run:
            table(pause_report(run)).show()
    one = f" --run {shlex.quote(name)}" if found.kind == "study" else ""
    _show_next(found, kept, one, "for repeat, compare" if found.rows else "for why, timeline, compare")


def _show_json(found: "Opened", kept: Path | None) -> None:
    about = {"file": str(found.file), "sha256": found.sha256, "kept": str(kept or "")}
    print(json.dumps(about | dict(found.about), indent=2))


def _show_next(found: "Opened", kept: Path | None, one: str, uses: str) -> None:
    """Print where the files are, or what to do with them. one: the option that chooses a run."""
    if kept:
        print_wrapped(["", f"kept as {kept}"])
        return
    file = shlex.quote(printable(str(found.file)))
    print_wrapped(
        [
            "",
            f"    wblab open {file} --keep    # write it to the other results: {uses}",
            f"    wblab repeat {file}{one}    # make the run here: identical, or the first difference",
        ]
    )
