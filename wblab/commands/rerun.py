"""wblab rerun: a run once more from its own record, and where the two differ first."""

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.pauses import add_run_argument, named_run
from wblab.core.errors import InputError, WblabError
from wblab.core.units import Bytes
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.core.spec import Spec
    from wblab.data.difference import Difference
    from wblab.data.run import Run
    from wblab.host.request import Request
    from wblab.kernels import Kernel

# What --explain traces, of what the kernel has. The buffer is part of the guest's memory: both runs have the same.
_SYSTEMS = (
    "block",
    "ext4",
    "filemap",
    "irq",
    "jbd2",
    "kmem",
    "raw_syscalls",
    "sched",
    "signal",
    "syscalls",
    "task",
    "timer",
    "vmscan",
    "workqueue",
    "writeback",
    "xfs",
)
_BUFFER = Bytes(32 << 20)
_SHOWN = 3


class DifferentError(WblabError):
    """The two runs are not the same."""


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb to the command."""
    rerun = verbs.add_parser(
        "rerun",
        help="repeat a run, and compare",
        description="Repeat a run from its own record, and say whether the two are the same, byte for byte, or where "
        "they differ first: in what the loads measured, and in the trace. In virtual time they should be the same.",
    )
    add_run_argument(rerun)
    rerun.add_argument("--with", dest="other", metavar="RUN", help="compare with this run, and make no new one")
    rerun.add_argument(
        "--explain",
        action="store_true",
        help="make two runs with everything traced, and show the first event that differs",
    )
    rerun.add_argument("--kernel", default="", metavar="SERIES|PATH", help="default: the series that the run had")
    rerun.add_argument("--json", action="store_true", help="print JSON")
    rerun.set_defaults(run=_rerun)


def _rerun(arguments: argparse.Namespace) -> None:
    from wblab.data.difference import first_differences
    from wblab.data.run import find_run, read_run
    from wblab.host.request import ready
    from wblab.kernels import built_kernels
    from wblab.lab.specfile import RESULTS

    results, shelf = arguments.exp or RESULTS, built_kernels(arguments.kernel)
    first = read_run(named_run(arguments))
    if arguments.explain and arguments.other:
        raise InputError("--explain makes two new runs, --with compares with one that is there: give one or the other")
    if arguments.other:
        second = read_run(find_run(arguments.other, results))
    elif arguments.explain:
        spec = _spec(first, arguments.kernel)
        spec = traced_fully(spec, shelf(spec.kernel))
        first, second = (_made(ready(spec, shelf), results) for _ in range(2))
    else:
        second = _made(ready(_spec(first, arguments.kernel), shelf), results)
    for note in notes(first, second):
        print(printable(f"wblab: {note}"), file=sys.stderr)
    differences = first_differences(first, second)
    if arguments.json:
        both = {"first": str(first.path), "second": str(second.path)}
        print(json.dumps(both | {"differences": [asdict(item) for item in differences]}, indent=2))
    else:
        print("\n".join(map(printable, [f"{first.path}", f"{second.path}", *_lines(differences)])))
    if differences:
        raise DifferentError(f"the runs differ, first at {differences[0].at_s:.6f} s of the guest's time")


def traced_fully(spec: "Spec", kernel: "Kernel") -> "Spec":
    """Return a spec with as many events as a kernel has."""
    from wblab.kernels import sort_events

    events = sort_events(kernel, _SYSTEMS).traced
    return replace(spec, trace=replace(spec.trace, events=events, buffer=max(spec.trace.buffer, _BUFFER)))


# What two runs must have in common to be the same, besides the spec: part of the record, key in it, and what it is.
_INPUTS = (
    ("kernel", "build_id", "kernel builds"),
    ("guest", "program_sha256", "versions of the lab or of Python's library"),
    ("guest", "python_sha256", "Pythons"),
    ("guest", "libraries", "libraries below Python"),
    ("host", "tools", "trace-cmd or mkfs"),
    ("host", "cpu", "processors"),
)


def notes(first: "Run", second: "Run") -> list[str]:
    """Return why two runs need not be the same: real time, and inputs that the records say are not the same."""
    found = []
    if "real" in (first.spec.clock.mode, second.spec.clock.mode):
        found.append("in real time no two runs are the same")
    for part, key, what in _INPUTS:
        values = [(run.record.get(part) or {}).get(key) for run in (first, second)]
        if values[0] != values[1]:
            found.append(f"the runs are of different {what}: {' and '.join(_differing(*values))}")
    return found


def _differing(first: object, second: object) -> list[str]:
    """Return two values in short; of two tables, what is not the same in both."""
    if isinstance(first, dict) and isinstance(second, dict):
        keys = [key for key in {**first, **second} if first.get(key) != second.get(key)]
        return [", ".join(f"{key} {str(table.get(key))[:40]}" for key in keys) for table in (first, second)]
    return [str(value)[:40] for value in (first, second)]


def _spec(run: "Run", kernel_given: str) -> "Spec":
    from wblab.data.run import guest_spec
    from wblab.kernels import full_name

    spec = guest_spec(run)
    return replace(spec, kernel=full_name(kernel_given)) if kernel_given else spec


def _made(request: "Request", results: Path) -> "Run":
    from wblab.commands.run import run_shown
    from wblab.data.run import read_run

    return read_run(run_shown(request, results).directory)


def _lines(differences: "list[Difference]") -> list[str]:
    if not differences:
        return ["identical: every boundary of every load, and every event"]
    lines = []
    for item in differences[:_SHOWN]:
        lines += ["", f"{item.what}, at {item.at_s:.9f} s", "  first:", *(f"    {line}" for line in item.first)]
        lines += ["  second:", *(f"    {line}" for line in item.second)]
    left = [item.what for item in differences[_SHOWN:]]
    return [*lines, "", f"and later: {'; '.join(left)}"] if left else lines
