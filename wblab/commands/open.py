"""wblab open: what a file of 'wblab pack' holds; keep it, or repeat a run of it."""

import argparse
import json
import os
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import add_exp, add_json, add_kernel, print_wrapped, results
from wblab.core.errors import InputError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wblab.analysis.runs.run import Run
    from wblab.core.spec import Spec
    from wblab.kernels import KernelResolver
    from wblab.publish.bundle.read import Opened
    from wblab.publish.bundle.rowwords import RowsOf
    from wblab.study.rowat import RowAt


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Check a file of 'wblab pack' and print what it holds: runs, their spec, kernel and pauses. It may come from "
        "anybody: nothing in it is run, and a damaged or false one is refused. With --repeat, make a run of it here, "
        "in a confined guest, and compare the two: only that shows that its measurements are true."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a file of 'wblab pack'")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--to", type=Path, metavar="DIR", help="write it as a directory, which must not exist")
    where.add_argument("--keep", action="store_true", help="write it into the directory of results, under its own name")
    parser.add_argument(
        "--repeat",
        action="store_true",
        help="make a run of it here and compare both, as 'wblab rerun' does; it is kept too",
    )
    parser.add_argument(
        "--run", metavar="RUN", dest="one", help="of a study, this run: its name, or CELL/SEED (default: the first)"
    )
    add_kernel(parser, "the same build, else the run's series")
    add_exp(parser, "results go")
    add_json(parser)
    parser.set_defaults(run=_open)


def _open(arguments: argparse.Namespace) -> None:
    from wblab.lab.progress import bar
    from wblab.publish.bundle.read import opened

    if arguments.kernel and not arguments.repeat:
        raise InputError("--kernel is for --repeat: add that, or leave it out")
    with ExitStack() as stack:
        with bar(arguments.file.name) as report:
            found = stack.enter_context(opened(arguments.file, _room(arguments), report))
        again = _open_rows(found, arguments) if found.rows else _open_runs(found, arguments)
    again()


def _open_runs(found: "Opened", arguments: argparse.Namespace) -> "Callable[[], None]":
    """Show a run, or a study of runs, and keep it if asked to; return what repeats one, if asked to."""
    from wblab.analysis.runs.run import guest_spec
    from wblab.publish.bundle.words import chosen

    name, item = chosen(found, arguments.one)
    run = item.read()
    resolve = None
    if arguments.repeat:
        if run is None:
            raise InputError(f"{name} measured nothing, so there is nothing to compare with: give --run another one")
        resolve = _kernel(guest_spec(run), run.record.get("kernel") or {}, arguments)
    kept = _kept(found, arguments)
    for each in found.reworded:
        line = f"wblab: the file words what {each} measured differently; here is what its files say"
        print(printable(line), file=sys.stderr)
    if not (arguments.json and resolve):
        _show(found, name, run, kept, arguments)

    def again() -> None:
        if resolve and kept:
            from wblab.commands.rerun import repeat

            path, place = kept / found.path(name), results(arguments)
            repeat(path, place, resolve, kernel=arguments.kernel, as_json=arguments.json)

    return again


def _open_rows(found: "Opened", arguments: argparse.Namespace) -> "Callable[[], None]":
    """Do the same for a study that keeps rows of its runs."""
    from dataclasses import replace

    from wblab.publish.bundle.rowwords import RowsOf
    from wblab.study.store import Store

    rows = RowsOf(found)
    at = rows.chosen(arguments.one)
    spec = at.cell.spec
    resolve = _kernel(spec, rows.store.kernels[spec.kernel.build], arguments) if arguments.repeat else None
    kept = _kept(found, arguments)
    if not (arguments.json and resolve):
        _show_rows(found, rows, at, kept, arguments)

    def again() -> None:
        if resolve and kept:
            from wblab.commands.rerun import repeat_row

            there = replace(at, store=Store(kept, rows.store.plan, rows.store.kernels))
            repeat_row(there, results(arguments), resolve, kernel=arguments.kernel, as_json=arguments.json)

    return again


def _kept(found: "Opened", arguments: argparse.Namespace) -> Path | None:
    """Write the files to where they are to be kept, and return that; None if they are not. Raises InputError."""
    from wblab.publish.bundle.keep import keep_as, keep_in

    if arguments.to:
        return keep_as(found, arguments.to)
    return keep_in(found, results(arguments)) if arguments.keep or arguments.repeat else None


def _room(arguments: argparse.Namespace) -> Path | None:
    """Return the directory that the files are going to be in; None if they are not kept. Raises InputError."""
    if not (arguments.to or arguments.keep or arguments.repeat):
        return None
    room = Path(os.path.abspath(arguments.to)).parent if arguments.to else results(arguments)
    try:
        room.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write in {str(room)!r}: {error.strerror}: give another directory") from None
    return room


def _kernel(spec: "Spec", made: "Mapping[str, Any]", arguments: argparse.Namespace) -> "KernelResolver":
    """Return what finds the kernel of a repetition. made: the record of the run's kernel. Raises InputError."""
    from wblab.kernels import built_kernels
    from wblab.publish.bundle.kernel import kernel_for

    if arguments.kernel:
        return built_kernels(arguments.kernel)
    kernel = kernel_for(spec, made)
    return lambda _: kernel


def _show(found: "Opened", name: str, run: "Run | None", kept: Path | None, arguments: argparse.Namespace) -> None:
    """Print what a bundle is, and what to do next."""
    from wblab.analysis.runs.pauses import pause_report
    from wblab.publish.bundle.words import head, run_lines, runs_table
    from wblab.report.pausetext import table

    if arguments.json:
        _show_json(found, kept)
        return
    print_wrapped(head(found))
    if found.kind == "study" and not arguments.one:
        print()
        runs, more = runs_table(found)
        runs.show()
        if more:
            print(f"and {more} more: --json lists all")
    else:
        print_wrapped([*run_lines(found.runs[name], run), ""])
        if run:
            table(pause_report(run)).show()
    one = f" --run {shlex.quote(name)}" if found.kind == "study" else ""
    _show_next(found, kept, one, "for why, timeline, compare", arguments)


def _show_rows(found: "Opened", rows: "RowsOf", at: "RowAt", kept: Path | None, arguments: argparse.Namespace) -> None:
    """Do the same for a study that keeps rows of its runs."""
    from wblab.publish.bundle.words import SHOWN, head
    from wblab.study.cells import run_name

    if arguments.json:
        _show_json(found, kept)
        return
    print_wrapped([*head(found), ""])
    rows.table().show()
    if (more := len(rows.rows) - SHOWN) > 0:
        print(f"and {more:,} more")
    one = f" --run {shlex.quote(run_name(at.cell, at.seed))}"
    _show_next(found, kept, one, "for audit, compare", arguments)


def _show_json(found: "Opened", kept: Path | None) -> None:
    about = {"file": str(found.file), "sha256": found.sha256, "kept": str(kept or "")}
    print(json.dumps(about | dict(found.about), indent=2))


def _show_next(found: "Opened", kept: Path | None, one: str, uses: str, arguments: argparse.Namespace) -> None:
    """Print where the files are, or what to do with them. one: the option that chooses a run."""
    if kept:
        print_wrapped(["", f"kept as {kept}"])
    elif not arguments.repeat:
        file = shlex.quote(printable(str(found.file)))
        print_wrapped(
            [
                "",
                f"    wblab open {file} --keep    # write it to the other results: {uses}",
                f"    wblab open {file}{one} --repeat    # make the run here: identical, or the first difference",
            ]
        )
