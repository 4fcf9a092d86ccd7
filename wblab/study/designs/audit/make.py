"""Make a part of a study's runs again, or those whose figures are expected, and compare."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.analysis.groups.resultlist import study_named
from wblab.core.errors import WblabError
from wblab.kernels import KernelResolver, built_kernels
from wblab.study.asked import Failures, StudyAnswer, StudyRequest
from wblab.study.begin import Planned, begun, check_kernels
from wblab.study.cells import run_name
from wblab.study.designs.audit import NAME
from wblab.study.designs.audit.audit import audit_plan, chosen, judged
from wblab.study.designs.audit.expected import Compared, compared, path_of, plan_of, read_expected, record
from wblab.study.designs.audit.report import of_share
from wblab.study.run import run_store
from wblab.study.store import Store

_SHARE = 0.01
_AUDITS = "audits"  # a directory of its own: what is made again is not among the studies


@dataclass(frozen=True, kw_only=True)
class AuditRequest(StudyRequest):
    """What an audit is asked for. study: its directory. share: of the runs, up to 1. choice: which of them."""

    study: Path
    share: float | None = None
    choice: int | None = None


def make(asked: AuditRequest) -> StudyAnswer:
    """Make a random part of a study's runs again. A run that is not identical is a lack."""
    store = Store.open(asked.study)
    asked = replace(asked, results=asked.results / _AUDITS)
    resolve = built_kernels(*asked.kernel)
    planned = _planned(asked, store, resolve)
    with begun(asked, resolve, planned, f"wblab repeat {asked.study} --resume") as (again, client):
        tally = run_store(again, client, asked.jobs, chosen(again.plan))
    failures = {run_name(item.cell, item.seed): reason for item, reason in tally.failures}
    found = judged(store, again, failures)
    bad = len(found.differing) + len(found.failed)
    lack = f"{bad} of {len(chosen(again.plan))} runs are not the same, or failed" if bad else ""
    return StudyAnswer(again.path, of_share(asked.study, again.path, found), (again.path,), lack=lack)


def _planned(asked: AuditRequest, store: Store, resolve: KernelResolver) -> Planned:
    if asked.resume:
        again = Store.open(study_named(asked.resume, asked.results, NAME), NAME)
        check_kernels(again, resolve)
        return Planned(again.plan, again.kernels, again)
    return Planned.new(audit_plan(store, asked.share or _SHARE, asked.choice or 0), resolve)


def beside_expected(asked: StudyRequest, series: str) -> Sequence[Compared]:
    """Make the runs of a series' presets; return how they compare, or with `update` record them. Raises WblabError."""
    if not asked.update:
        read_expected(series, path_of(series))  # an error shows before the runs
    resolve, plan = built_kernels(), plan_of(series, update=asked.update)
    with begun(asked, resolve, Planned.new(plan, resolve)) as (store, _):
        tally = run_store(store, None, asked.jobs)
        if tally.failures:
            for line in Failures.of(store, tally).lines:
                asked.failed(line)
            raise WblabError(f"{len(tally.failures)} runs failed, see {store.path}")
    if not asked.update:
        return compared(series, store)
    record(series, store)
    return []
