"""The page of the claims' results, from the verdicts of verifications: `make results`.

    python docs/results.py DIR ...

Each DIR is the report of `wblab verify --source WORK`.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wblab.analysis.statistics.outcome import OUTCOMES
from wblab.lab.formats import VERDICTS, VERIFICATION
from wblab.report.quantities import interval, quantity
from wblab.study.sources.registry import WORKS

PAGE = Path(__file__).resolve().parent / "findings" / "results-of-claims.md"
_HEAD = """\
# Results of the claims

What each claim of [what others claim](../explanation/claims.md) gave on Linux {release} with the lab's patches (kernel
build `{build}`). `make results` makes this page anew. The explanation says how claims are judged.

A figure is the mean over seeds with its 95 % interval; of times and ratios it is the geometric mean. If a figure is not
finite in every run, it is the median with the least and the greatest.
"""


def page(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of verifications, as their verdicts.json have them, in the order of the works."""
    ordered = sorted(found, key=lambda one: list(WORKS).index(one["work"]))
    kernel = ordered[0]["kernel"]
    head = _HEAD.format(release=kernel["release"], build=str(kernel["build_id"])[:16])
    return "\n".join([head, *(line for one in ordered for line in _section(one))])


def _section(found: Mapping[str, Any]) -> Iterator[str]:
    counts = Counter(claim["verdict"] for claim in found["claims"])
    told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    yield f"## {WORKS[found['work']].title}\n"
    yield f"`wblab verify --source {found['work']}`, {found['seeds']} seeds: {told}.\n"
    yield "| claim | verdict | figure | what was measured, or why it was not |"
    yield "|---|---|---|---|"
    for claim in found["claims"]:
        yield "| " + " | ".join(_row(claim)) + " |"
    yield ""


def _row(claim: Mapping[str, Any]) -> list[str]:
    effect = claim["effect"]
    what = effect["what"] if effect else claim["why"]
    cells = (f"`{claim['name']}`: {claim['says']}", claim["verdict"], _figure(effect), what)
    return [cell.replace("|", "\\|").replace("*", "\\*") for cell in cells]


def _figure(effect: Mapping[str, Any] | None) -> str:
    if effect is None:
        return ""
    middle, low, high = (float("inf") if effect[key] is None else effect[key] for key in ("middle", "low", "high"))
    if len(effect["values"]) < 2:
        return quantity(middle, effect["unit"])
    return interval(middle, low, high, effect["unit"])


if __name__ == "__main__":
    PAGE.write_text(page([VERIFICATION.read(Path(name) / VERDICTS) for name in sys.argv[1:]]))
