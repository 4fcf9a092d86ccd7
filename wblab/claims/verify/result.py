"""The result of a verification: the verdicts and their runs, as JSON."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wblab.analysis.statistics.decision import NOT_DECIDED, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED, Outcome
from wblab.claims.sources.cases import CASES
from wblab.claims.sources.changes import changed_since
from wblab.claims.sources.claim import Claim
from wblab.claims.sources.sample import Sample
from wblab.lab.formats import VERIFICATION
from wblab.report.quantities import interval, quantity
from wblab.report.report import finite
from wblab.study.statement import Effect, Verdict

OUTCOMES: tuple[Outcome, ...] = (REPRODUCED, NOT_REPRODUCED, NOT_DECIDED, NOT_TESTABLE)


@dataclass(frozen=True)
class VerificationResult:
    """The result of a verification.

    kernel: the kernel as a run records it; variants: those of its name, such as +hz-1000. seeds: the number per
    case. wall_s: the duration. samples: the runs by case, in the order of seeds. work: the name of the work that makes
    the claims.
    """

    kernel: dict[str, Any]
    seeds: int
    wall_s: float
    verdicts: tuple[tuple[Claim, Verdict], ...]
    samples: dict[str, list[Sample]]
    work: str = "thesis"
    variants: str = ""

    @property
    def release(self) -> str:
        """The kernel's release and variants: 7.2.11+hz-1000."""
        return f"{self.kernel['release']}{self.variants}"

    def to_json(self, directory: Path) -> dict[str, Any]:
        """Return a JSON object. Paths of runs are relative to `directory`; values that are not finite become null."""
        return {
            **VERIFICATION.head(),
            "work": self.work,
            "kernel": self.kernel,
            "variants": self.variants,
            "seeds": self.seeds,
            "wall_s": round(self.wall_s, 1),
            "claims": [_claim_json(claim, verdict, self.release) for claim, verdict in self.verdicts],
            "runs": {
                case: {
                    "what": CASES[case].what,
                    "directories": [_relative(item.run.path, directory) for item in samples],
                }
                for case, samples in self.samples.items()
            },
        }


def figure_text(effect: Effect | None) -> str:
    """Return a figure with its interval as text: 3.4 s (2.9 to 3.6)."""
    if effect is None:
        return ""
    if len(effect.values) < 2:
        return quantity(effect.middle, effect.unit)
    return interval(effect.middle, effect.low, effect.high, effect.unit)


def _claim_json(claim: Claim, verdict: Verdict, release: str) -> dict[str, Any]:
    effect = asdict(verdict.effect) if verdict.effect else None
    if effect:
        effect = finite(effect)
    return {
        "name": claim.name,
        "says": claim.says,
        "source": claim.source,
        "cases": list(claim.cases),
        "verdict": verdict.outcome,
        "why": verdict.why,
        "held": verdict.held,
        "p": verdict.decision and verdict.decision.p,
        "effect": effect,
        "changed": changed_since(claim.name, verdict.outcome, release),
    }


def _relative(path: Path, directory: Path) -> str:
    path, directory = path.resolve(), directory.resolve()
    return str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)
