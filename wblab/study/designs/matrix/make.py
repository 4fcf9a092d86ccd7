"""Plan a matrix, make its runs, and say how many there are."""

from dataclasses import replace
from functools import partial

from wblab.analysis.statistics.decision import for_looks, looks
from wblab.analysis.statistics.intervals import LEAST_RUNS, Resampling
from wblab.core.errors import InputError
from wblab.kernels import KernelResolver, built_kernels, list_kernels
from wblab.lab.formats import LOOKS
from wblab.lab.results import MATRICES
from wblab.report.report import Report
from wblab.study.asked import Failures, StudyAnswer, StudyRequest, shard_made
from wblab.study.begin import Planned, begun, with_kernel, with_part
from wblab.study.decided import of_cells, run_until_decided
from wblab.study.designs.matrix import NAME
from wblab.study.designs.matrix.factorial import read_matrix
from wblab.study.plan import MAX_RUNS
from wblab.study.run import run_store
from wblab.study.store import Store

_MOST = 34  # seeds of a cell, until it is decided


def make(asked: StudyRequest) -> StudyAnswer:
    """Make a matrix, or resume one."""
    resolve = built_kernels(*asked.kernel)
    with begun(asked, resolve, _planned(asked, resolve)) as (store, client):
        run = partial(run_store, store, client, asked.jobs)
        tally = run_until_decided(store, question, run, asked.note) if (question := of_cells(store)) else run()
    failures = Failures.of(store, tally)
    if store.plan.shard:
        return shard_made(store, failures)
    counts = {
        "runs": failures.ended,
        "done": failures.ended - len(failures.runs),
        "made_now": tally.done,
        "repeated": tally.repeated,
    }
    about = {"directory": str(store.path), **counts, "failures": list(failures.runs)}
    return StudyAnswer(store.path, below=(store.path,), about=about, failures=failures)


def report_of(store: Store) -> Report:
    """Return the comparison of a matrix's cells. Raises InputError without enough runs."""
    # Making runs needs neither pandas nor Matplotlib, which take half a second to load.
    from wblab.analysis.groups.comparison import compare
    from wblab.analysis.groups.observations import found_observations, looks_at
    from wblab.plot.comparisonfigure import comparison_figure
    from wblab.plot.picture import svg
    from wblab.report.comparisonreport import report
    from wblab.study.pictured import with_pictures

    named, results = [str(store.path)], store.path.parent
    resampling = for_looks(looks_at(named, results), Resampling(seed=0))
    comparison = compare(found_observations(named, results), resampling)
    return with_pictures(report(comparison, figure=svg(comparison_figure(comparison))), store)


def _planned(asked: StudyRequest, resolve: KernelResolver) -> Planned:
    if asked.resume:
        return Planned.again(asked, NAME, resolve)
    if (asked.seeds or 0) > MAX_RUNS:
        raise InputError(f"--seeds: {asked.seeds} is not between 1 and {MAX_RUNS}")
    built = [listed.series for listed in list_kernels() if listed.kernel]
    most = asked.seeds or (_MOST if asked.until_decided else 0)
    plan = read_matrix(MATRICES.find(asked.what), built=built, seeds=range(1, most + 1))
    plan = with_part(with_kernel(plan, asked.kernel), asked.keep, asked.shard)
    if asked.until_decided:
        if asked.shard:
            raise InputError("--until-decided: what is decided depends on all runs: leave --shard out")
        if most < LEAST_RUNS:
            raise InputError(f"--seeds {most}: --until-decided needs at least {LEAST_RUNS}")
        plan = replace(plan, about={LOOKS: len(looks(most))})
    return Planned.new(plan, resolve)
