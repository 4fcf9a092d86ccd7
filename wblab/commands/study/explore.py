"""wblab study of an exploration: find out which settings a response depends on."""

import argparse
import shlex
from typing import TYPE_CHECKING

from wblab.commands.common import tell
from wblab.core.errors import InputError, WblabError
from wblab.lab.designs import EXPLORE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.run import Tally
    from wblab.study.store import Store


def make(arguments: argparse.Namespace) -> None:
    """Make an exploration, or resume one; a directory that is given as WHAT is analysed with the runs that it has."""
    from wblab.commands.many import begun, failed, named, print_shard
    from wblab.kernels import built_kernels
    from wblab.study.run import run_store
    from wblab.study.store import Store

    if arguments.is_report:
        _report(Store.open(named(arguments, EXPLORE), EXPLORE), None, arguments)
        return
    resolve = built_kernels(*arguments.kernel)
    with begun(arguments, resolve, _planned(arguments, resolve)) as (store, client):
        tally = run_store(store, client, arguments.jobs)
    if store.plan.shard:
        print_shard(store, failed(tally), as_json=arguments.json)
        return
    _report(store, tally, arguments)


def names() -> "Iterator[tuple[str, str]]":
    """Yield the name and what it is of those that come with the lab."""
    from wblab.lab.results import DESIGNS

    yield from ((name, "an exploration") for name in DESIGNS.names())


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    from wblab.commands.many import Planned
    from wblab.lab.formats import DESIGN
    from wblab.lab.results import DESIGNS
    from wblab.study.begin import described, with_kernel, with_part
    from wblab.study.designs.explore.design import read_design
    from wblab.study.designs.explore.record import encode, read_record, record_of
    from wblab.study.designs.explore.sample import planned, sample

    if arguments.resume:
        return Planned.again(arguments, EXPLORE, resolve, lambda store: read_record(store.path))
    path = DESIGNS.find(arguments.what)
    design = read_design(path, arguments.seeds)
    try:
        points = sample(design.head, len(design.factors))
        plan = planned(design, points, path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    plan = with_part(with_kernel(plan, arguments.kernel), arguments.keep, arguments.shard)
    return Planned(plan, described(plan, resolve), beside={DESIGN: encode(record_of(design, points))})


def _report(store: "Store", tally: "Tally | None", arguments: argparse.Namespace) -> None:
    """Analyse all finished runs, write the analysis and its page, and print a summary. tally: of the runs made now."""
    from wblab.analysis.sensitivity.analysis import analyse
    from wblab.commands.many import check_failures, failed
    from wblab.lab.formats import ANALYSED, EXPLORED, write_json
    from wblab.lab.progress import bar
    from wblab.plot.exploration import drawn_report
    from wblab.report.page import write
    from wblab.study.designs.explore.record import observed

    found = observed(store.path, store.plan.cells[0].spec)
    with bar(f"analysing {store.plan.name}") as report:
        analysis = analyse(found, report=report)
    told, path = drawn_report(analysis, found, store.plan.name), store.path / EXPLORED
    try:
        write_json(store.path / ANALYSED, analysis.to_json())
    except OSError as error:
        raise WblabError(f"cannot write into {store.path}: {error.strerror or error}") from None
    write(told, path)
    failures, runs = failed(tally) if tally else [], len(store.plan.runs())
    again = f"    wblab study {shlex.quote(str(store.path))} --evidence    # every share with its interval"
    about = {"runs": runs, "made_now": tally.done if tally else 0, "failures": failures}
    tell(
        told,
        *([] if arguments.evidence else [again]),
        path,
        as_json=arguments.json,
        place="folded" if arguments.evidence else "terminal",
        **{"directory": str(store.path), "page": str(path)} | about,
    )
    check_failures(store, failures)
