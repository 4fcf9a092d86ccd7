"""Plan an exploration, make its runs, and analyse which settings a response depends on."""

import shlex

from wblab.analysis.sensitivity.analysis import analyse
from wblab.core.errors import InputError, WblabError
from wblab.kernels import KernelResolver, built_kernels
from wblab.lab.formats import ANALYSED, DESIGN, EXPLORED, write_json
from wblab.lab.progress import bar
from wblab.lab.results import DESIGNS
from wblab.plot.exploration import drawn_report
from wblab.report.page import write
from wblab.report.report import Report
from wblab.study.asked import Failures, StudyAnswer, StudyRequest, shard_made
from wblab.study.begin import Planned, begun, with_kernel, with_part
from wblab.study.designs.explore import NAME
from wblab.study.designs.explore.design import read_design
from wblab.study.designs.explore.points import planned, sample
from wblab.study.designs.explore.record import encode, observed, read_record, record_of
from wblab.study.run import Tally, run_store
from wblab.study.store import Store


def make(asked: StudyRequest) -> StudyAnswer:
    """Make an exploration, or resume one; a report is of the runs that there are."""
    if asked.resume and asked.is_report:
        return _analysed(asked, Store.open(asked.resume, NAME), Tally(0))
    resolve = built_kernels(*asked.kernel)
    with begun(asked, resolve, _planned(asked, resolve)) as (store, client):
        tally = run_store(store, client, asked.jobs)
    if store.plan.shard:
        return shard_made(store, Failures.of(store, tally))
    return _analysed(asked, store, tally)


def report_of(store: Store) -> Report:
    """Return the report of an exploration that was made. Raises InputError without runs."""
    found = observed(store.path, store.plan.cells[0].spec)
    return drawn_report(analyse(found, seed=0), found, "What it depends on")


def _planned(asked: StudyRequest, resolve: KernelResolver) -> Planned:
    if asked.resume:
        return Planned.again(asked, NAME, resolve, lambda store: read_record(store.path))
    path = DESIGNS.find(asked.what)
    design = read_design(path, asked.seeds)
    try:
        points = sample(design.head, len(design.factors))
        plan = planned(design, points, path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    plan = with_part(with_kernel(plan, asked.kernel), asked.keep, asked.shard)
    return Planned.new(plan, resolve, beside={DESIGN: encode(record_of(design, points))})


def _analysed(asked: StudyRequest, store: Store, tally: Tally) -> StudyAnswer:
    """Analyse all finished runs, and write the analysis and its page. tally: of the runs made now."""
    found = observed(store.path, store.plan.cells[0].spec)
    with bar(f"analysing {store.plan.name}") as report:
        analysis = analyse(found, report=report)
    told, page = drawn_report(analysis, found, store.plan.name), store.path / EXPLORED
    try:
        write_json(store.path / ANALYSED, analysis.to_json())
    except OSError as error:
        raise WblabError(f"cannot write into {store.path}: {error.strerror or error}") from None
    write(told, page)
    failures = Failures.of(store, tally)
    again = f"    wblab study {shlex.quote(str(store.path))} --evidence    # every share with its interval"
    counts = {"runs": len(store.plan.runs()), "made_now": tally.done, "failures": list(failures.runs)}
    return StudyAnswer(
        store.path,
        told,
        below=(page,) if asked.evidence else (again, page),
        about={"directory": str(store.path), "page": str(page)} | counts,
        place="folded" if asked.evidence else "terminal",
        failures=failures,
    )
