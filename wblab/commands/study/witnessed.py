"""wblab study --on of a finding or a claim: each of its statements on each place."""

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from wblab.commands.common import tell
from wblab.core.errors import InputError, WblabError

if TYPE_CHECKING:
    from wblab.study.sources.claim import Claim
    from wblab.study.statement import Verdict

Made = Callable[[argparse.Namespace], dict[str, Any]]  # makes a study; returns what it says, as JSON


def finding_or_claim(arguments: argparse.Namespace, on: Sequence[str], make: Made) -> bool:
    """Make the studies of the finding or claim that the arguments name; return False if they name neither.

    on: where a claim is tested; a finding's studies say it themselves. Raises WblabError.
    """
    from wblab.study.designs.finding.finding import names
    from wblab.study.sources.registry import WORKS

    claims = [(of, claim) for of, work in WORKS.items() for claim in work.claims if claim.name in arguments.parts]
    if not claims and arguments.parts:
        raise InputError(f"{arguments.parts[0]}: a spec and a finding are run whole: leave it out")
    if not claims and arguments.what not in names():
        return False
    if arguments.settings:
        raise InputError("--set: a finding and a claim have specs of their own: give a spec to change one")
    if len(claims) > 1:
        raise InputError(f"{claims[1][1].name}: one claim at a time is tested on other places")
    if claims:
        _claim(arguments, *claims[0], arguments.on or on)
    else:
        _finding(arguments, make)
    return True


def _finding(arguments: argparse.Namespace, make: Made) -> None:
    """Make the studies that are listed for a finding's page, and say which statements hold where."""
    from wblab.study.designs.finding.finding import find, read
    from wblab.study.designs.witness.kept import seen, statements
    from wblab.study.designs.witness.report import statements_report

    listed = statements()
    finding = arguments.what
    wanted = listed.of_page(f"{finding}.md")
    if not wanted:
        raise InputError(f"no study outside of User Mode Linux is listed for the finding {finding}: give a spec")
    answers = {}
    for name in dict.fromkeys(name for one in wanted for name in (one.study, one.shorter) if name):
        study = listed.study[name]
        own = {"what": study.spec, "settings": list(study.set), "on": arguments.on or list(study.on)}
        answers[name] = make(argparse.Namespace(**(vars(arguments) | own)))
    found = [(one, dict(seen(one, answers, arguments.on))) for one in wanted]
    told = statements_report(read(find(finding)).title, found, answers)
    tell(told, *(answer["directory"] for answer in answers.values()), as_json=arguments.json)


def _claim(arguments: argparse.Namespace, source: str, claim: "Claim", on: Sequence[str]) -> None:
    """Check a claim of a work on each substrate."""
    from wblab.analysis.statistics.decision import NOT_TESTABLE
    from wblab.study.designs.witness.report import claim_report

    verdicts = {name: _verdict(arguments, source, claim, name) for name in on}
    tell(claim_report(claim, verdicts), as_json=arguments.json)
    if missing := [name for name, verdict in verdicts.items() if verdict.outcome == NOT_TESTABLE]:
        raise WblabError(f"{claim.name} cannot be tested on {', '.join(missing)}: {verdicts[missing[0]].why}")


def _verdict(arguments: argparse.Namespace, source: str, claim: "Claim", name: str) -> "Verdict":
    from wblab.commands.study.verify import Question, verdicts_on
    from wblab.commands.study.witness import SEEDS
    from wblab.kernels import full_name
    from wblab.kernels.here import is_here
    from wblab.study.designs.verify.runs import NoCaseError
    from wblab.study.designs.witness.substrates import label, substrate
    from wblab.study.sources.claim import untested

    where = substrate(name)
    if is_here(where.kernel):
        raise InputError(f"--on {name}: a claim is checked in guests only: give a spec or a finding")
    if where.real:
        raise InputError(f"--on {name}: claims are checked in virtual time: leave /real out")
    if not claim.cases:
        return claim.check({})
    asked = Question(source, [claim], full_name(where.kernel), arguments.seeds or SEEDS)
    try:
        ((_, verdict),) = verdicts_on(arguments, asked, f"witness-{claim.name}-{label(where)}")
    except NoCaseError as error:
        return untested(str(error))({})
    return verdict
