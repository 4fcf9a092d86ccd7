"""A square of claims: those of a work."""

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.atlas.square import Row, Square, code_of, on_filesystem, sha256
from wblab.claims.base import Claim
from wblab.claims.cases import CASES, case_spec
from wblab.claims.registry import WORKS
from wblab.claims.report import write_report
from wblab.claims.result import Result
from wblab.claims.runs import Jobs, examine
from wblab.core.errors import InputError
from wblab.core.rundir import TRACE, TRACE_LOG
from wblab.core.tables import to_table
from wblab.host.bundle import program_sha256
from wblab.host.command import interpreter
from wblab.host.request import ready
from wblab.kernels import Kernel, Shelf
from wblab.lab.formats import CONFIG, REPORT, RUNS

_JUDGES = ("claims", "data", "why", "layers")
# Of a run only what says what it was, and what its loads measured: all else is made again, byte for byte, by wblab
# rerun.
_DROPPED = (TRACE, TRACE_LOG, CONFIG)


@dataclass(frozen=True)
class Claimed:
    """What such a square needs: its claims, `seeds` runs of each case; the cases that cannot be, and why."""

    square: Square
    kernel: Kernel
    claims: Sequence[Claim]
    seeds: int
    wanted: Jobs
    impossible: Mapping[str, str]
    made_of: str

    def fill(self, directory: Path, at_once: int) -> Sequence[Row]:
        """Make all runs, and the report: see Plan. All is begun anew."""
        started_s = time.monotonic()
        shutil.rmtree(directory / RUNS, ignore_errors=True)
        found = examine(self.claims, self.wanted, directory / RUNS, at_once, impossible=self.impossible)
        wall_s = time.monotonic() - started_s
        kernel = self.kernel.describe()
        write_report(Result(kernel, self.seeds, wall_s, found.verdicts, found.samples, self.square.source), directory)
        return [
            Row(claim.name, "", claim.says, verdict.outcome, verdict.why, f"{REPORT}#{claim.name}")
            for claim, verdict in found.verdicts
        ]

    def thin(self, directory: Path) -> None:
        """Remove the traces: see Plan."""
        for run in (directory / RUNS).glob("*"):
            for name in _DROPPED:
                (run / name).unlink(missing_ok=True)


def planned(square: Square, seeds: int, shelf: Shelf) -> Claimed:
    """Return what a square needs. Raises InputError for a kernel that is not there."""
    kernel, claims = shelf(square.series), WORKS[square.source].claims
    wanted, impossible = [], {}
    for case in dict.fromkeys(case for claim in claims for case in claim.cases):
        try:
            for seed in range(1, min(seeds, CASES[case].most_seeds) + 1):
                spec = on_filesystem(case_spec(case, seed, square.series), square.filesystem)
                wanted.append((case, ready(spec, shelf)))
        except InputError as error:
            impossible[case] = f"the case {case} cannot be on {square.filesystem}: {error}"
            wanted = [job for job in wanted if job[0] != case]
    wanted.sort(key=lambda job: job[1].spec.clock.mode == "real")  # last, as each has the machine to itself
    specs = [[case, to_table(request.spec)] for case, request in wanted]
    told = [kernel.build_id, program_sha256(interpreter()), code_of(*_JUDGES), impossible, specs]
    return Claimed(square, kernel, claims, seeds, wanted, impossible, sha256(json.dumps(told).encode()))
