"""wblab rerun: repeat a run from its record, and show where the two first differ.

The record of a run in a site (repeat.json) is enough: it has the spec, and the digest of what was measured.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, add_kernel, add_removed, add_run, named_run, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.formats import EXPERIMENT
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        "difference in the loads' measurements and in the trace. In virtual time they should be identical. RUN may "
        "also be the repeat.json of a site: then the digests are compared, and all inputs that differ are named."
    )
    add_run(parser, about="a run: its directory, the directory's name, or 'latest'; or the repeat.json of a site")
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
    if (path := Path(arguments.run_name)).suffix == ".json" and path.name != EXPERIMENT:
        _recorded(path, arguments, resolve)
        return
    if not (arguments.other or arguments.explain) and (found := row_at(directory, arguments.run_name)):
        repeat_row(found, directory, resolve, kernel=arguments.kernel, as_json=arguments.json)
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


def _recorded(path: Path, arguments: argparse.Namespace, resolve: "KernelResolver") -> None:
    """Repeat the run that a record describes, and print whether it is identical. Raises DifferentError if not."""
    from wblab.host.request import ready
    from wblab.study.designs.repeat.record import read_record

    if arguments.other or arguments.explain:
        raise InputError(f"{path} has no measurements to compare with: leave OTHER and --explain out")
    record = read_record(path)
    if record.needs_kernel and not arguments.kernel:
        raise InputError(f"{path}: the run had a kernel of its own ({record.kernel}): give one with --kernel PATH")
    spec = _on(record.spec, arguments.kernel)
    made = _made(ready(spec, resolve), results(arguments), may_lose=record.may_lose)
    if not record.is_repeatable:
        print("wblab: no two runs in real time are identical", file=sys.stderr)
    _say_digests(str(path), {"record": str(path)}, record.digest, record.made_with, made, as_json=arguments.json)


def repeat(path: Path, results: Path, resolve: "KernelResolver", *, as_json: bool, kernel: str = "") -> None:
    """Repeat the run in a directory and print whether the two are the same. Raises DifferentError if not.

    kernel: the one to repeat it on, as given to --kernel; by default the spec's.
    """
    from wblab.analysis.runs.run import read_run
    from wblab.host.request import ready

    first = read_run(path)
    _say(first, _made(ready(_spec(first, kernel), resolve), results), as_json=as_json)


def repeat_row(at: "RowAt", results: Path, resolve: "KernelResolver", *, as_json: bool, kernel: str = "") -> None:
    """Do the same for a run of which only a row was kept."""
    from wblab.host.request import ready

    row, study = at.row(), at.store.path
    spec = _on(at.cell.with_seed(at.seed), kernel)
    made = _made(ready(spec, resolve), results, may_lose=at.cell.may_lose)
    about = {"study": str(study), "run": row.name}
    _say_digests(f"{row.name} of {study}", about, row.digest, row.made_with, made, as_json=as_json)


def _say_digests(  # noqa: PLR0913 - these are what is compared, and how it is said
    first: str, about: dict[str, str], recorded: str, made_with: "Mapping[str, str]", made: "Run", *, as_json: bool
) -> None:
    """Say whether a new run has the recorded digest; if not, raise DifferentError with the inputs that differ."""
    from wblab.analysis.runs.digest import digest
    from wblab.study.inputs import different, inputs_of, reason

    second, inputs = digest(made), different(made_with, inputs_of(made.record))
    if as_json:
        found = {"second": str(made.path), "digests": [recorded, second], "different_inputs": inputs}
        print(json.dumps(about | found, indent=2))
    else:
        same = "identical: the digest of every cycle of every load, and every event"
        lines = [str(made.path), *([same] if second == recorded else [f"first: {recorded}", f"second: {second}"])]
        print("\n".join(map(printable, lines)))
    if second != recorded:
        is_real = not inputs and made.spec.clock.mode == "real"
        why = "it had the host's clock" if is_real else reason(inputs)
        raise DifferentError(f"the new run is not that of {first}: {why}")


def _say(first: "Run", second: "Run", *, as_json: bool) -> None:
    from wblab.analysis.runs.difference import first_differences
    from wblab.study.inputs import excuses

    differences = first_differences(first, second)
    for excuse in excuses(first, second) if differences else ():
        print(printable(f"wblab: {excuse}"), file=sys.stderr)
    if as_json:
        both = {"first": str(first.path), "second": str(second.path)}
        print(json.dumps(both | {"differences": [asdict(item) for item in differences]}, indent=2))
    else:
        print("\n".join(map(printable, [f"{first.path}", f"{second.path}", *_lines(differences)])))
    if differences:
        raise DifferentError(f"the runs differ, first at {differences[0].at_s:.6f} s of guest time")


def _spec(run: "Run", kernel_given: str) -> "Spec":
    from wblab.analysis.runs.run import guest_spec

    return _on(guest_spec(run), kernel_given)


def _on(spec: "Spec", kernel: str) -> "Spec":
    """Return a spec on the kernel that was given to --kernel, if any."""
    from wblab.kernels import full_name

    return spec.on(full_name(kernel)) if kernel else spec


def _made(request: "Request", results: Path, *, may_lose: bool = False) -> "Run":
    """Make a run. may_lose: one whose trace lost events counts too. Raises RunFailedError."""
    from wblab.analysis.runs.run import read_run
    from wblab.api.making import run_shown
    from wblab.host.recorded import RunFailedError
    from wblab.study.work import lost_events

    try:
        return read_run(run_shown(request, results).directory)
    except RunFailedError as error:
        if not may_lose or error.directory is None or not lost_events(error.directory):
            raise
        return read_run(error.directory)


def _lines(differences: "list[Difference]") -> list[str]:
    if not differences:
        return ["identical: every cycle of every load, and every event"]
    lines = []
    for item in differences[:_SHOWN]:
        lines += ["", f"{item.what}, at {item.at_s:.9f} s", "  first:", *(f"    {line}" for line in item.first)]
        lines += ["  second:", *(f"    {line}" for line in item.second)]
    left = [item.what for item in differences[_SHOWN:]]
    return [*lines, "", f"and later: {'; '.join(left)}"] if left else lines
