"""A target of claims: those of a work."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.rundir import TRACE, TRACE_LOG
from wblab.host.bundle import program_sha256
from wblab.host.command import interpreter
from wblab.host.request import ready
from wblab.kernels import Kernel, KernelResolver
from wblab.lab.formats import CONFIG, REPORT, RUNS, STUDY_FILE
from wblab.study.designs.atlas.target import Row, Target, code_of, on_filesystem, sha256
from wblab.study.designs.cases.report import write_report
from wblab.study.designs.cases.result import Result
from wblab.study.designs.cases.runs import examine, plan_of, specs_of
from wblab.study.plan import Plan
from wblab.study.sources.claim import Claim
from wblab.study.sources.registry import WORKS
from wblab.study.store import Store, clear_failed

_JUDGES = ("analysis", "report", "study/sources", "study/designs/cases")
# Of a run only what says what it was, and what its loads measured: all else is made again, byte for byte, by wblab
# rerun.
_DROPPED = (TRACE, TRACE_LOG, CONFIG)


@dataclass(frozen=True)
class Claimed:
    """What such a target needs: its claims, `seeds` runs of each case; the cases that cannot be, and why."""

    target: Target
    kernel: Kernel
    claims: Sequence[Claim]
    plan: Plan | None
    seeds: int
    impossible: Mapping[str, str]
    made_of: str

    def fill(self, directory: Path, at_once: int) -> Sequence[Row]:
        """Make the runs that are missing, and the report: see Plan."""
        started_s, kernel = time.monotonic(), self.kernel.describe()
        with ExitStack() as stack:
            store = None
            if self.plan:
                begun = (directory / STUDY_FILE).is_file()
                kernels = {self.target.series: kernel}
                store = Store.open(directory) if begun else Store.begin(directory, self.plan, kernels)
                stack.enter_context(store.held())
                clear_failed(store)
            found = examine(self.claims, store, at_once, impossible=self.impossible)
        wall_s = time.monotonic() - started_s
        write_report(Result(kernel, self.seeds, wall_s, found.verdicts, found.samples, self.target.source), directory)
        return [
            Row(claim.name, "", claim.says, verdict.outcome, verdict.why, f"{REPORT}#{claim.name}")
            for claim, verdict in found.verdicts
        ]

    def prune(self, directory: Path) -> None:
        """Remove the traces: see Plan."""
        for run in (directory / RUNS).glob("*"):
            for name in _DROPPED:
                (run / name).unlink(missing_ok=True)


def planned(target: Target, seeds: int, resolve: KernelResolver) -> Claimed:
    """Return what a target needs. Raises InputError for a kernel that is not there."""
    kernel, claims = resolve(target.series), WORKS[target.source].claims
    specs, impossible = {}, {}
    for case, spec in specs_of(claims, target.series).items():
        try:
            specs[case] = ready(on_filesystem(spec, target.filesystem), resolve).spec
        except InputError as error:
            impossible[case] = f"the case {case} cannot be on {target.filesystem}: {error}"
    plan = plan_of(target.name, specs, seeds, {"source": target.source}) if specs else None
    cells = [cell.to_json() for cell in plan.cells] if plan else []
    told = [kernel.build_id, program_sha256(interpreter()), code_of(*_JUDGES), impossible, seeds, cells]
    return Claimed(target, kernel, claims, plan, seeds, impossible, sha256(json.dumps(told).encode()))
