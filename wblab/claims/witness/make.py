"""The same spec on other kernels and processors, unpatched ones among them.

It compares whether a load is stalled, not for how many milliseconds. A run by the host's clock whose control load is
stalled does not count, and is repeated twice at most. A finding and a claim are tested statement by statement.
"""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wblab.analysis.statistics.decision import NOT_TESTABLE
from wblab.claims.finding.finding import find, names, read
from wblab.claims.outside import seen, statements
from wblab.claims.sources.claim import Claim, untested
from wblab.claims.sources.registry import WORKS
from wblab.claims.verify.make import verdicts_on
from wblab.claims.verify.runs import NoCaseError
from wblab.claims.witness import NAME
from wblab.claims.witness.report import claim_report, report, statements_report, witnessed
from wblab.claims.witness.result import BOUND_NS, without_spoiled
from wblab.claims.witness.substrates import AXIS, cells, label, substrate
from wblab.core.errors import InputError
from wblab.kernels import KernelResolver, built_kernels, catalog, full_name
from wblab.kernels.here import is_here
from wblab.kernels.stock.stockkernel import is_stock, parse
from wblab.lab.designs import STUDY_AGAIN
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.report.report import Report
from wblab.study.asked import Failures, StudyAnswer, StudyRequest
from wblab.study.begin import Planned, begun
from wblab.study.plan import Plan
from wblab.study.run import run_store
from wblab.study.statement import Verdict
from wblab.study.store import Store

_SEEDS = 3
_SEEDS_APART = 10  # where a place does not repeat, so that its range says something
_ON = ("", "stock:{series}", "stock:{series}@2", "stock:{series}@4", "stock:{series}@8")


def make(asked: StudyRequest) -> StudyAnswer:
    """Run a spec on several places, or resume that; a finding or a claim is tested on each."""
    return (None if asked.resume else _finding_or_claim(asked)) or _of_spec(asked)


def report_of(store: Store) -> Report:
    """Return the report of a witness that was made. Raises InputError."""
    kernels = (substrate(str(cell.levels[AXIS])).kernel for cell in store.plan.cells)
    return report(replace(witnessed(store, built_kernels(*kernels), STUDY_AGAIN), directory=Path(store.path.name)))


def _of_spec(asked: StudyRequest) -> StudyAnswer:
    resolve = built_kernels(*(substrate(name).kernel for name in asked.on), option="--on")
    again = _again(asked.on)
    with begun(asked, resolve, _planned(asked, resolve), again) as (store, _):
        tally = run_store(store, None, asked.jobs)
    found = witnessed(store, resolve, again)
    failures = Failures.of(store, without_spoiled(tally, found.noisy), again)
    return StudyAnswer(store.path, report(found), (store.path,), failures=failures)


def _again(on: Sequence[str]) -> str:
    """Return the command that resumes a study, without its directory: directories of this machine are named again."""
    named = [word for name in on if is_here(name) for word in ("--on", name)]
    return shlex.join(["wblab", "study", *named, "--resume"])


def _everywhere() -> list[str]:
    series = catalog.load().default
    return [name.format(series=series) or series for name in _ON]


def _planned(asked: StudyRequest, resolve: KernelResolver) -> Planned:
    if asked.resume:
        return Planned.again(asked, NAME, resolve)
    spec = read_spec(SPECS.find(asked.what), asked.settings)
    places = [substrate(name) for name in asked.on or _everywhere()]
    usual = _SEEDS_APART if any(place.real for place in places) else _SEEDS
    plan = Plan(
        spec.name,
        tuple(range(1, (asked.seeds or usual) + 1)),
        cells(spec, places, resolve),
        control_bound_ns=BOUND_NS,
        design=NAME,
    )
    return Planned.new(plan, resolve)


def _finding_or_claim(asked: StudyRequest) -> StudyAnswer | None:
    """Make the studies of the finding or claim that is asked for; return None for neither. Raises WblabError."""
    claims = [(of, claim) for of, work in WORKS.items() for claim in work.claims if claim.name in asked.parts]
    if not claims and asked.parts:
        raise InputError(f"{asked.parts[0]}: a spec and a finding are run whole: leave it out")
    if not claims and asked.what not in names():
        return None
    if asked.settings:
        raise InputError("--set: a finding and a claim have specs of their own: give a spec to change one")
    if len(claims) > 1:
        raise InputError(f"{claims[1][1].name}: one claim at a time is tested on other places")
    return _claim(asked, *claims[0]) if claims else _finding(asked)


def _finding(asked: StudyRequest) -> StudyAnswer:
    """Make the studies that are listed for a finding's page, and say which statements hold where."""
    listed = statements()
    wanted = listed.of_page(f"{asked.what}.md")
    if not wanted:
        raise InputError(f"no study outside of User Mode Linux is listed for the finding {asked.what}: give a spec")
    answers: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(name for one in wanted for name in (one.study, one.shorter) if name):
        study = listed.study[name]
        made = _of_spec(replace(asked, what=study.spec, settings=study.set, on=asked.on or study.on))
        if made.failures.runs:
            return replace(made, report=None, below=())
        assert made.report
        answers[name] = dict(made.report.data)
    found = [(one, dict(seen(one, answers, asked.on))) for one in wanted]
    told = statements_report(read(find(asked.what)).title, found, answers)
    return StudyAnswer(made.directory, told, [answer["directory"] for answer in answers.values()])


def _claim(asked: StudyRequest, source: str, claim: Claim) -> StudyAnswer:
    """Check a claim of a work on each place."""
    verdicts = {name: _verdict(asked, source, claim, name) for name in asked.on or _everywhere()}
    missing = [name for name, verdict in verdicts.items() if verdict.outcome == NOT_TESTABLE]
    where = ", ".join(missing)
    lack = f"{claim.name} cannot be tested on {where}: {verdicts[missing[0]].why}" if missing else ""
    return StudyAnswer(asked.results, claim_report(claim, verdicts), lack=lack)


def _verdict(asked: StudyRequest, source: str, claim: Claim, name: str) -> Verdict:
    where = substrate(name)
    if is_here(where.kernel):
        raise InputError(f"--on {name}: a claim is checked in guests only: give a spec or a finding")
    if where.real:
        way = "leave its driver out" if is_stock(where.kernel) and parse(where.kernel).driver else "leave /real out"
        raise InputError(f"--on {name}: claims are checked in virtual time: {way}")
    if not claim.cases:
        return claim.check({})
    of = f"witness-{claim.name}-{label(where)}"
    try:
        ((_, verdict),) = verdicts_on(asked, source, [claim], full_name(where.kernel), asked.seeds or _SEEDS, of)
    except NoCaseError as error:
        return untested(str(error))({})
    return verdict
