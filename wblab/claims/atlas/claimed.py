"""A target of claims: those of a work."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from wblab.claims.atlas.content import made_of, opened, prune_runs
from wblab.claims.atlas.target import AtlasRow, Target, on_filesystem
from wblab.claims.sources.cases import CASES, case_spec
from wblab.claims.sources.claim import Claim
from wblab.claims.sources.registry import WORKS
from wblab.claims.verify.report import write_report
from wblab.claims.verify.result import VerificationResult, figure_text
from wblab.claims.verify.runs import cases_of, examine, plan_of
from wblab.core.errors import InputError
from wblab.core.rundir import TRACE, TRACE_LOG
from wblab.core.spec import Spec
from wblab.host.request import Request, ready
from wblab.kernels import Kernel, KernelResolver
from wblab.lab.formats import CONFIG, REPORT
from wblab.study.plan import Plan
from wblab.study.statement import Verdict

_JUDGES = ("analysis", "report", "claims/sources", "claims/verify")
# wblab repeat makes these again, byte for byte, from the run's record.
_DROPPED = (TRACE, TRACE_LOG, CONFIG)


@dataclass(frozen=True)
class Claimed:
    """The claims of a work with `seeds` runs of each case; and the cases that are impossible here, with the reason."""

    target: Target
    kernel: Kernel
    claims: Sequence[Claim]
    plan: Plan | None
    seeds: int
    impossible: Mapping[str, str]
    made_of: str

    def fill(self, directory: Path, at_once: int) -> Sequence[AtlasRow]:
        """Make the missing runs, and the report: see Planned."""
        started_s, kernel = time.monotonic(), self.kernel.describe()
        with ExitStack() as stack:
            plan = self.plan
            store = stack.enter_context(opened(directory, self.target, self.kernel, plan)) if plan else None
            found = examine(self.claims, store, at_once, impossible=self.impossible)
        wall_s = time.monotonic() - started_s
        write_report(
            VerificationResult(kernel, self.seeds, wall_s, found.verdicts, found.samples, self.target.source), directory
        )
        return [_row(claim, verdict) for claim, verdict in found.verdicts]

    def prune(self, directory: Path) -> None:
        """Remove the traces: see Planned."""
        prune_runs(directory, lambda name: name not in _DROPPED)


def _row(claim: Claim, verdict: Verdict) -> AtlasRow:
    found = verdict.effect
    why = f"{found.what}. {verdict.why}" if found else verdict.why
    seeds = str(len(found.values)) if found else ""
    return AtlasRow(
        claim.name, "", claim.says, verdict.outcome, why, f"{REPORT}#{claim.name}", figure_text(found), seeds
    )


def planned(
    target: Target, seeds: int, resolve: KernelResolver, prepare: Callable[[Spec, KernelResolver], Request] = ready
) -> Claimed:
    """Return the plan of a target. Raises InputError if its kernel is not built.

    prepare: raises InputError for a spec that cannot run here.
    """
    kernel, claims = resolve(target.series), WORKS[target.source].claims
    specs, impossible = {}, {}
    for case in cases_of(claims):
        if own := CASES[case].kernel:
            impossible[case] = f"the case {case} needs a kernel of its own, with {own}: wblab study tests it"
            continue
        spec = case_spec(case, 1, target.series)
        try:
            specs[case] = prepare(on_filesystem(spec, target.filesystem), resolve).spec
        except InputError as error:
            impossible[case] = f"the case {case} cannot be on {target.filesystem}: {error}"
    plan = plan_of(target.name, specs, seeds, {"source": target.source}) if specs else None
    cells = [cell.to_json() for cell in plan.cells] if plan else []
    digest = made_of(kernel, _JUDGES, impossible, seeds, cells)
    return Claimed(target, kernel, claims, plan, seeds, impossible, digest)
