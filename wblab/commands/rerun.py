"""wblab rerun: repeat a run from its record, and show where the two first differ."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, add_kernel, add_removed, add_run, named_run, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.analysis.runs.difference import Difference
    from wblab.analysis.runs.run import Run
    from wblab.core.spec import Spec
    from wblab.host.request import Request
    from wblab.kernels import KernelResolver
    from wblab.study.rowat import RowAt

_SHOWN = 3


class DifferentError(WblabError):
    """The two runs are not the same."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Repeat a run from its own record and compare the two, byte for byte. If they differ, show the first "
        "difference in the loads' measurements and in the trace. In virtual time they should be identical."
    )
    add_run(parser)
    parser.add_argument("other", nargs="?", metavar="OTHER", help="compare with this run instead of a new one")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="make two new runs that trace everything, and show the first event that differs",
    )
    add_kernel(parser, "the run's series")
    add_exp(parser)
    add_json(parser)
    add_removed(parser, "--with", "wblab rerun RUN OTHER")
    parser.set_defaults(run=_rerun)


def _rerun(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import find_run, read_run
    from wblab.host.request import ready
    from wblab.kernels import built_kernels
    from wblab.study.designs.repeat.explain import traced_fully
    from wblab.study.rowat import row_at

    directory, resolve = results(arguments), built_kernels(arguments.kernel)
    if not (arguments.other or arguments.explain) and (found := row_at(directory, arguments.run_name)):
        repeat_row(found, directory, resolve, as_json=arguments.json)
        return
    first = read_run(named_run(arguments))
    if arguments.explain and arguments.other:
        raise InputError("--explain makes two new runs and compares those: leave OTHER out")
    if arguments.other:
        second = read_run(find_run(arguments.other, directory))
    elif arguments.explain:
        spec = _spec(first, arguments.kernel)
        spec = traced_fully(spec, resolve(spec.kernel.build))
        first, second = (_made(ready(spec, resolve), directory) for _ in range(2))
    else:
        second = _made(ready(_spec(first, arguments.kernel), resolve), directory)
    _say(first, second, as_json=arguments.json)


def repeat(path: Path, results: Path, resolve: "KernelResolver", *, as_json: bool, kernel: str = "") -> None:
    """Repeat the run in a directory and print whether the two are the same. Raises DifferentError if not.

    kernel: the one to repeat it on, as given to --kernel; by default the spec's.
    """
    from wblab.analysis.runs.run import read_run
    from wblab.host.request import ready

    first = read_run(path)
    _say(first, _made(ready(_spec(first, kernel), resolve), results), as_json=as_json)


def repeat_row(at: "RowAt", results: Path, resolve: "KernelResolver", *, as_json: bool) -> None:
    """Repeat a run of which only a row was kept, and say whether the two are the same. Raises DifferentError if not."""
    from wblab.analysis.runs.digest import digest
    from wblab.host.request import ready
    from wblab.study.inputs import different, inputs_of

    row, study = at.row(), at.store.path
    made = _made(ready(at.cell.with_seed(at.seed), resolve), results)
    second, inputs = digest(made), different(row.made_with, inputs_of(made.record))
    if as_json:
        both = {"study": str(study), "run": row.name, "second": str(made.path)}
        print(json.dumps(both | {"digests": [row.digest, second], "different_inputs": inputs}, indent=2))
    else:
        same = "identical: the digest of every cycle of every load, and every event"
        lines = [str(made.path), same if second == row.digest else f"first: {row.digest}\nsecond: {second}"]
        print("\n".join(map(printable, lines)))
    if second != row.digest:
        other = f"other {', '.join(inputs)}" if inputs else "all inputs are the same: that should not be"
        raise DifferentError(f"{row.name} is not what {study} has: {other}")


def _say(first: "Run", second: "Run", *, as_json: bool) -> None:
    from wblab.analysis.runs.difference import first_differences
    from wblab.study.inputs import excuses

    for excuse in excuses(first, second):
        print(printable(f"wblab: {excuse}"), file=sys.stderr)
    differences = first_differences(first, second)
    if as_json:
        both = {"first": str(first.path), "second": str(second.path)}
        print(json.dumps(both | {"differences": [asdict(item) for item in differences]}, indent=2))
    else:
        print("\n".join(map(printable, [f"{first.path}", f"{second.path}", *_lines(differences)])))
    if differences:
        raise DifferentError(f"the runs differ, first at {differences[0].at_s:.6f} s of guest time")


def _spec(run: "Run", kernel_given: str) -> "Spec":
    from wblab.analysis.runs.run import guest_spec
    from wblab.kernels import full_name

    spec = guest_spec(run)
    return spec.on(full_name(kernel_given)) if kernel_given else spec


def _made(request: "Request", results: Path) -> "Run":
    from wblab.analysis.runs.run import read_run
    from wblab.commands.run import run_shown

    return read_run(run_shown(request, results).directory)


def _lines(differences: "list[Difference]") -> list[str]:
    if not differences:
        return ["identical: every cycle of every load, and every event"]
    lines = []
    for item in differences[:_SHOWN]:
        lines += ["", f"{item.what}, at {item.at_s:.9f} s", "  first:", *(f"    {line}" for line in item.first)]
        lines += ["  second:", *(f"    {line}" for line in item.second)]
    left = [item.what for item in differences[_SHOWN:]]
    return [*lines, "", f"and later: {'; '.join(left)}"] if left else lines
