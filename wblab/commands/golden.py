"""wblab golden: check that this machine gets the same bytes as others."""

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wblab.commands.common import add_exp, add_jobs, add_json, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.study.designs.repeat.expected import Compared

_ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Run the base experiment and compare its result, byte for byte, with those of other machines in golden.json. "
        "If it differs, list the inputs that differ. With --series, compare a standard set of presets with "
        "experiments/expected: byte for byte if the inputs are the same, otherwise by intervals of their figures."
    )
    parser.add_argument(
        "--series",
        metavar="SERIES",
        help="compare the expected figures of this kernel series, such as 7.2, or of all that are built: all",
    )
    parser.add_argument(
        "--update", action="store_true", help="record this machine's result in golden.json, or in expected/SERIES.json"
    )
    add_jobs(parser)
    add_exp(parser, "run directories go")
    add_json(parser, "print the digest and the verdict as JSON")
    parser.set_defaults(run=_golden)


def _golden(arguments: argparse.Namespace) -> None:
    if arguments.series:
        _of_series(arguments)
    elif arguments.jobs:
        raise InputError("--jobs goes with --series: the base experiment is one run")
    else:
        _of_base(arguments)


def _of_series(arguments: argparse.Namespace) -> None:
    from wblab.kernels import built_kernels, list_kernels
    from wblab.lab.places import check_checkout
    from wblab.study.designs.repeat.expected import FOLDER

    known = {listed.series: listed.kernel for listed in list_kernels()}
    names = [name for name, kernel in known.items() if kernel] if arguments.series == _ALL else [arguments.series]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no series {unknown[0]!r}: give one of {', '.join(known)}, or {_ALL}")
    if not names:
        raise InputError("no series is built: build one with wblab kernel build")
    resolve = built_kernels()
    for name in names:
        resolve(name)
    if arguments.update:
        check_checkout(FOLDER, "--update")
    found = {name: _compared(name, arguments) for name in names}
    if arguments.json:
        print(json.dumps({name: list(map(_json, some)) for name, some in found.items()}, indent=2))
    if strange := [f"{one.preset} on {name}" for name, some in found.items() for one in some if not one.fits]:
        stale = sorted({name for some in found.values() for one in some for name in one.verdict.stale})
        why = f"; recorded with another version of {', '.join(stale)}: make expected" if stale else ""
        raise WblabError(f"not as expected: {', '.join(strange)}{why}")


def _compared(series: str, arguments: argparse.Namespace) -> "list[Compared]":
    """Make the runs of a series; record them, or print how they compare. Raises WblabError."""
    from wblab.commands.many import Planned, begun, failed, print_failures
    from wblab.kernels import built_kernels
    from wblab.study.begin import described
    from wblab.study.designs.repeat.expected import path_of, read_expected
    from wblab.study.designs.repeat.standard import compared, plan_of, record
    from wblab.study.run import run_store

    if not arguments.update:
        read_expected(series, path_of(series))  # an error shows before the runs
    resolve, plan = built_kernels(), plan_of(series, update=arguments.update)
    with begun(arguments, resolve, Planned(plan, described(plan, resolve)), "wblab matrix --resume") as (store, _):
        tally = run_store(store, None, arguments.jobs)
        if tally.failures:
            print_failures(store, failed(tally))
            raise WblabError(f"{len(tally.failures)} runs failed, see {store.path}")
    if arguments.update:
        record(series, store)
        if not arguments.json:
            print(path_of(series))
        return []
    found = compared(series, store)
    if not arguments.json:
        print("\n".join(printable(f"{series:6} {one.preset:12} {one}") for one in found))
    return found


def _json(one: "Compared") -> dict[str, Any]:
    verdict = {"same": one.verdict.same, "differing": one.verdict.differing, "strange": one.strange}
    return {"preset": one.preset, "fits": one.fits} | verdict


def _of_base(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import read_run
    from wblab.api.making import run_shown
    from wblab.host.request import ready
    from wblab.kernels import built_kernels
    from wblab.lab.named import SPECS
    from wblab.lab.places import check_checkout
    from wblab.lab.specfile import read_spec
    from wblab.study.designs.repeat.golden import FILE, SPEC, judge, noted, read_golden, seen, write_golden

    if arguments.update:
        check_checkout(FILE, "--update")
    request = ready(read_spec(SPECS.find(SPEC)), built_kernels())
    run = read_run(run_shown(request, results(arguments)).directory)
    new = seen(run)
    if not arguments.json:
        print(run.path)
        print(new.digest)
    if arguments.update:
        write_golden(noted(read_golden(), new))
        if arguments.json:
            print(json.dumps({"directory": str(run.path), "noted": asdict(new)}, indent=2))
        return
    verdict = judge(read_golden(), new)
    if arguments.json:
        about = {"directory": str(run.path), "digest": new.digest, "nearest": verdict.nearest.on}
        print(json.dumps(about | {"same": verdict.same, "differing": verdict.differing}, indent=2))
    else:
        print(verdict)
    if not verdict.same:
        raise WblabError("this machine's result differs")
