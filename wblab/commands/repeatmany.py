"""wblab repeat of a study and of golden: many runs made again, or one beside those of other machines."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import results, tell
from wblab.core.errors import InputError, WblabError
from wblab.lab.designs import AUDIT

if TYPE_CHECKING:
    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.designs.audit.expected import Compared
    from wblab.study.store import Store

_SHARE = 0.01
_AUDITS = "audits"  # a directory of its own: what is made again is not among the studies
_ALL = "all"


def repeat_share(path: Path, arguments: argparse.Namespace) -> None:
    """Make a random part of a study's runs again, and say which share is identical. Raises WblabError for others."""
    from wblab.commands.many import begun
    from wblab.kernels import built_kernels
    from wblab.study.cells import run_name
    from wblab.study.designs.audit.audit import chosen, judged
    from wblab.study.designs.audit.report import of_share
    from wblab.study.run import run_store
    from wblab.study.store import Store

    store = Store.open(path)
    arguments.exp = results(arguments) / _AUDITS
    resolve = built_kernels(*arguments.kernel)
    plan = _audit(arguments, store, resolve)
    with begun(arguments, resolve, plan, f"wblab repeat {path} --resume") as (again, client):
        tally = run_store(again, client, arguments.jobs, chosen(again.plan))
    failures = {run_name(item.cell, item.seed): reason for item, reason in tally.failures}
    found = judged(store, again, failures)
    tell(of_share(path, again.path, found), again.path, as_json=arguments.json)
    if found.differing or found.failed:
        bad = len(found.differing) + len(found.failed)
        raise WblabError(f"{bad} of {len(chosen(again.plan))} runs are not the same, or failed")


def _audit(arguments: argparse.Namespace, store: "Store", resolve: "KernelResolver") -> "Planned":
    from wblab.commands.many import Planned, named
    from wblab.study.begin import check_kernels, described
    from wblab.study.designs.audit.audit import audit_plan
    from wblab.study.store import Store

    if arguments.resume:
        again = Store.open(named(arguments, AUDIT), AUDIT)
        check_kernels(again, resolve)
        return Planned(again.plan, again.kernels, again)
    plan = audit_plan(store, arguments.share or _SHARE, arguments.choice or 0)
    return Planned(plan, described(plan, resolve))


def repeat_golden(arguments: argparse.Namespace) -> None:
    """Compare the base run with that of other machines, or a series' presets with what is expected of them.

    Raises WblabError for a difference.
    """
    if arguments.kernel:
        raise InputError("--kernel: golden has a kernel of its own: give a series with --series")
    if arguments.series:
        _of_series(arguments)
    elif arguments.jobs:
        raise InputError("--jobs goes with --series: the base experiment is one run")
    else:
        _of_base(arguments)


def _of_series(arguments: argparse.Namespace) -> None:
    from wblab.kernels import built_kernels, list_kernels
    from wblab.lab.places import check_checkout
    from wblab.study.designs.audit.expected import FOLDER, path_of
    from wblab.study.designs.audit.report import of_series

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
    if arguments.update:
        paths = [str(path_of(name)) for name in names]
        print(json.dumps({"written": paths}, indent=2) if arguments.json else "\n".join(paths))
        return
    tell(of_series(found), as_json=arguments.json)
    if strange := [f"{one.preset} on {name}" for name, some in found.items() for one in some if not one.fits]:
        stale = sorted({name for some in found.values() for one in some for name in one.verdict.stale})
        why = f"; recorded with another version of {', '.join(stale)}: make expected" if stale else ""
        raise WblabError(f"not as expected: {', '.join(strange)}{why}")


def _compared(series: str, arguments: argparse.Namespace) -> "list[Compared]":
    """Make the runs of a series; record them, or return how they compare. Raises WblabError."""
    from wblab.commands.many import Planned, begun, failed, print_failures
    from wblab.kernels import built_kernels
    from wblab.study.begin import described
    from wblab.study.designs.audit.expected import compared, path_of, plan_of, read_expected, record
    from wblab.study.run import run_store

    if not arguments.update:
        read_expected(series, path_of(series))  # an error shows before the runs
    resolve, plan = built_kernels(), plan_of(series, update=arguments.update)
    with begun(arguments, resolve, Planned(plan, described(plan, resolve)), "wblab study --resume") as (store, _):
        tally = run_store(store, None, arguments.jobs)
        if tally.failures:
            print_failures(store, failed(tally))
            raise WblabError(f"{len(tally.failures)} runs failed, see {store.path}")
    if not arguments.update:
        return compared(series, store)
    record(series, store)
    return []


def _of_base(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import read_run
    from wblab.api.making import run_shown
    from wblab.host.request import ready
    from wblab.kernels import built_kernels
    from wblab.lab.places import check_checkout
    from wblab.lab.results import SPECS
    from wblab.lab.specfile import read_spec
    from wblab.study.designs.audit.golden import FILE, SPEC, judge, noted, read_golden, seen, write_golden
    from wblab.study.designs.audit.report import of_base

    if arguments.update:
        check_checkout(FILE, "--update")
    request = ready(read_spec(SPECS.find(SPEC)), built_kernels())
    run = read_run(run_shown(request, results(arguments)).directory)
    new = seen(run)
    if arguments.update:
        write_golden(noted(read_golden(), new))
    verdict = None if arguments.update else judge(read_golden(), new)
    tell(of_base(run.path, new, verdict), as_json=arguments.json)
    if verdict and not verdict.same:
        raise WblabError("this machine's result differs")
