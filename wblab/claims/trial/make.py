"""Plan a trial of recommendations, make runs until each is decided, and judge them."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from wblab.claims.trial import NAME
from wblab.claims.trial.measured import is_refusal
from wblab.claims.trial.plan import MOST_SEEDS, trial_matrix
from wblab.claims.trial.recommendations import WISDOM, Wisdom, read_wisdom
from wblab.claims.trial.report import write_report
from wblab.claims.trial.run import question, result_of, tried_in
from wblab.kernels import KernelResolver, built_kernels, full_name
from wblab.lab.formats import TRIED
from wblab.report.report import Report
from wblab.study.asked import Failures, Parts, StudyAnswer, StudyRequest, shard_made
from wblab.study.begin import Planned, begun, with_part
from wblab.study.decided import run_until_decided
from wblab.study.run import run_store
from wblab.study.store import Store


def make(asked: StudyRequest) -> StudyAnswer:
    """Try recommendations, or resume that."""
    resolve = built_kernels(asked.one_kernel)
    planned, wisdom = _planned(asked, resolve)
    with begun(asked, resolve, planned) as (store, client):
        run = partial(run_store, store, client, asked.jobs)
        tally = run_until_decided(store, question(store, wisdom), run, asked.note)
        failures = Failures.of(store, tally, but=is_refusal)
        if store.plan.shard:
            return shard_made(store, failures)
        told, page = write_report(result_of(store, wisdom), store.path)
    return StudyAnswer(store.path, told, (page,), {"report": str(page)}, failures=failures)


def report_of(store: Store) -> Report:
    """Return the report of a trial that was made; the study stays as it is. Raises InputError."""
    with TemporaryDirectory() as room:
        return write_report(result_of(store, tried_in(store)), Path(room))[0]


def parts(asked: StudyRequest) -> Parts:
    """Return the recommendations of a file, or some of them."""
    values = read_wisdom(_file(asked)).only(asked.parts).values()
    fields = ("recommendation", "who", "source", "set", "says")
    return Parts(
        [(key, entry.who, value.name, entry.says) for key, (entry, value) in values.items()],
        ("", "who", "what is set", "what it promises"),
        [
            dict(zip(fields, (key, entry.who, entry.source, value.name, entry.says), strict=True))
            for key, (entry, value) in values.items()
        ],
    )


def _file(asked: StudyRequest) -> Path:
    return WISDOM if asked.what == WISDOM.stem else Path(asked.what)


def _planned(asked: StudyRequest, resolve: KernelResolver) -> tuple[Planned, Wisdom]:
    """Return the runs to make, and the recommendations that they try. Raises InputError."""
    if not asked.resume:
        wisdom = read_wisdom(_file(asked)).only(asked.parts)
        kernel = full_name(asked.kernel[0]) if asked.kernel else ""
        plan = with_part(trial_matrix(wisdom, asked.seeds or MOST_SEEDS, kernel), "traces", asked.shard)
        return Planned.new(plan, resolve, beside={TRIED: _file(asked).read_bytes()}), wisdom
    planned = Planned.again(asked, NAME, resolve)
    assert planned.store
    return planned, tried_in(planned.store)
