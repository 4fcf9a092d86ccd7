"""Plan the runs that claims of a work need, make them, and judge each claim."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, cast, get_args

from wblab.claims.sources.claim import Claim
from wblab.claims.sources.registry import chosen, work_of
from wblab.claims.sources.sample import Sample
from wblab.claims.verify import NAME
from wblab.claims.verify.report import keep, kept_report, timelines, write_report
from wblab.claims.verify.result import VerificationResult
from wblab.claims.verify.runs import check_plan, examine, plan_of, possible
from wblab.core.errors import InputError
from wblab.core.tables import from_table
from wblab.kernels import KernelResolver, built_kernels, full_name
from wblab.lab.formats import VERDICTS, VERIFICATION
from wblab.lab.kernelname import variants_of
from wblab.report.report import Picture, Report
from wblab.study.asked import Failures, Parts, StudyAnswer, StudyRequest, shard_made
from wblab.study.begin import Planned, begun, described, with_part
from wblab.study.run import run_store
from wblab.study.statement import Verdict
from wblab.study.store import Store

_SEEDS = 5
_Source = Literal["thesis", "li", "chadd", "stephens", "chopper"]  # of wblab.claims.sources.registry
_Format = Literal["png", "svg", "pdf"]
_WORKS: tuple[_Source, ...] = get_args(_Source)


@dataclass(frozen=True)
class _Question:
    """What a verification asks: the work, its claims, the kernel, and the format of the figures.

    impossible: why cases cannot run here, by case.
    """

    source: _Source
    claims: tuple[str, ...]
    kernel: str
    format: _Format = "png"
    impossible: dict[str, str] = field(default_factory=dict)


def make(asked: StudyRequest) -> StudyAnswer:
    """Check claims, or resume that. A claim that is not reproduced is a finding, not a failure."""
    resolve = built_kernels(asked.one_kernel)
    question, planned = _planned(asked, resolve)
    claims, started_s = chosen(list(question.claims), question.source), time.monotonic()
    for reason in question.impossible.values():
        asked.note(f"not testable: {reason}")

    with begun(asked, resolve, planned) as (store, _):
        if store.plan.shard:  # all parts together are judged
            return shard_made(store, Failures.of(store, run_store(store, None, asked.jobs)))

        def draw(case: str, sample: Sample) -> list[Picture]:
            return [keep(drawn, store.path, question.format) for drawn in timelines(case, sample)]

        found = examine(claims, store, asked.jobs, draw, question.impossible)
        wall_s = time.monotonic() - started_s
        kernel = dict(store.kernels[question.kernel])
        seeds, variants = len(store.plan.seeds), variants_of(question.kernel)
        result = VerificationResult(kernel, seeds, wall_s, found.verdicts, found.samples, question.source, variants)
        told, page = write_report(result, store.path, question.format, found.shown)
    failures = Failures.of(store, found.tally) if found.tally else Failures()
    return StudyAnswer(store.path, told, (page,), {"report": str(page)}, failures=failures)


def report_of(store: Store) -> Report:
    """Return the verdicts that a verification kept: judging anew would need all its traces. Raises InputError."""
    path = store.path / VERDICTS
    try:
        return kept_report(VERIFICATION.read(path))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error})") from None


def parts(asked: StudyRequest) -> Parts:
    """Return the claims of a work, or those that were named."""
    claims = chosen(list(asked.parts), _source(asked))
    rows = [(claim.name, f"{claim.says} ({claim.source})") for claim in claims]
    return Parts(rows, (), [{"name": claim.name, "says": claim.says, "source": claim.source} for claim in claims])


def verdicts_on(  # noqa: PLR0913, PLR0917 - each is a part of the question
    asked: StudyRequest, source: str, claims: Sequence[Claim], kernel: str, seeds: int, name: str
) -> Sequence[tuple[Claim, Verdict]]:
    """Make the runs that some claims of a work need on a kernel, and judge them. Raises WblabError.

    name: of the study, which is one of claims and is resumed as such.
    """
    resolve = built_kernels(kernel, option="--on")
    resolve(kernel)  # a kernel that is not here ends all; a case's own kernel only its claims
    specs, impossible = possible(claims, kernel, resolve)
    names = tuple(claim.name for claim in claims)
    question = _Question(cast("_Source", source), names, kernel, impossible=impossible)
    plan = plan_of(name[:60].rstrip("-."), specs, seeds, asdict(question))
    with begun(asked, resolve, Planned.new(plan, resolve)) as (store, _):
        return examine(claims, store, asked.jobs, impossible=impossible).verdicts


def _planned(asked: StudyRequest, resolve: KernelResolver) -> tuple[_Question, Planned]:
    """Return what to verify, and the runs for it. Raises InputError."""
    if asked.resume:
        planned = Planned.again(asked, NAME, resolve, _known)
        assert planned.store
        return _known(planned.store), planned
    source = _source(asked)
    name = full_name(asked.one_kernel)
    claims = chosen(list(asked.parts), source)
    kernel = resolve(name)
    specs, impossible = possible(claims, name, resolve)
    question = _Question(source, tuple(claim.name for claim in claims), name, impossible=impossible)
    prefix = NAME if source == _WORKS[0] else f"{NAME}-{source}"
    plan = plan_of(f"{prefix}-{kernel.series}", specs, asked.seeds or _SEEDS, asdict(question))
    plan = with_part(plan, "traces", asked.shard)
    kernels = {name: kernel.describe(), **described(plan, resolve)}
    return question, Planned(plan, kernels, directory=asked.output)


def _known(store: Store) -> _Question:
    """Return what a study was asked. Its directory may be a stranger's. Raises InputError."""
    question = from_table(_Question, dict(store.plan.about), "about")
    if question.kernel not in store.kernels:
        raise InputError(f"{store.path} does not record the build of {question.kernel!r}: its study.json is damaged")
    check_plan(store.plan, chosen(list(question.claims), question.source), question.impossible)
    return question


def _source(asked: StudyRequest) -> _Source:
    """Return the work: the one that was named, or that of the claims."""
    return cast("_Source", asked.what or work_of(asked.parts, _WORKS[0]))
