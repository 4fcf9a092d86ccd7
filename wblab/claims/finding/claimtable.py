"""Verdicts on claims that a finding shows for several kernels, and the file that keeps them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from wblab.analysis.statistics.decision import NOT_DECIDED, NOT_TESTABLE, REPRODUCED, Outcome
from wblab.claims.finding.finding import ClaimTable
from wblab.claims.sources.claim import Claim
from wblab.core.errors import InputError
from wblab.lab.formats import CLAIMED
from wblab.lab.held import replace_file
from wblab.report.quantities import interval
from wblab.study.statement import Verdict

FILE = "verdicts.json"
_NONE = "–"


@dataclass(frozen=True)
class SeenClaim:
    """The verdict on a claim, with the figure that decided it; the figure is empty if there is none."""

    outcome: Outcome
    figure: str = ""

    @property
    def words(self) -> str:
        """What a table has: a figure is bold where the claim is reproduced."""
        if self.outcome == REPRODUCED:
            return f"**{self.figure}**"
        return f"{self.figure}, {self.outcome}" if self.outcome in (NOT_DECIDED, NOT_TESTABLE) else self.figure


Kept = Mapping[tuple[str, str], SeenClaim]  # by kernel and claim


def seen(kernel: str, verdicts: Iterable[tuple[Claim, Verdict]]) -> dict[tuple[str, str], SeenClaim]:
    """Return what the verdicts on a kernel say: the middle of each figure over seeds."""
    return {(kernel, claim.name): SeenClaim(verdict.outcome, _figure(verdict)) for claim, verdict in verdicts}


def _figure(verdict: Verdict) -> str:
    effect = verdict.effect
    return interval(effect.middle, None, None, effect.unit) if effect else ""


def cells(table: ClaimTable, kept: Kept) -> tuple[list[str], list[list[str]]]:
    """Return a table's heads and rows; a cell without a verdict has a dash."""
    rows = [
        [label, *(one.words if (one := kept.get((kernel, claim))) else _NONE for kernel in table.kernels)]
        for label, claim in table.rows.items()
    ]
    return [table.head, *table.kernels], rows


def read(directory: Path) -> Kept:
    """Return the kept verdicts of the finding in a directory; none if there are none. Raises InputError."""
    path = directory / FILE
    if not path.is_file():
        return {}
    try:
        found = CLAIMED.read(path)["verdicts"]
        return {(one["kernel"], one["claim"]): SeenClaim(one["outcome"], one["figure"]) for one in found}
    except (KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error})") from None


def write(directory: Path, kept: Kept, tables: Iterable[ClaimTable]) -> None:
    """Keep the verdicts that the tables show, a line for each. Raises OSError."""
    wanted = {(kernel, claim) for table in tables for kernel in table.kernels for claim in table.rows.values()}
    lines = [
        json.dumps({"kernel": kernel, "claim": claim, "outcome": one.outcome, "figure": one.figure})
        for (kernel, claim), one in sorted(kept.items())
        if (kernel, claim) in wanted
    ]
    head, shown = json.dumps(CLAIMED.head() | {"verdicts": []}).removesuffix("]}"), ",\n".join(lines)
    with replace_file(directory / FILE) as file:
        file.write(f"{head}\n{shown}\n]}}\n".encode())
