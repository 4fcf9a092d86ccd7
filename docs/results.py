"""The page of the claims' results, from the verdicts of verifications: `make results`.

    python docs/results.py DIR ...

Each DIR is the report of `wblab verify --source WORK`.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wblab.analysis.statistics.outcome import OUTCOMES
from wblab.lab.formats import VERDICTS, VERIFICATION
from wblab.study.designs.cases.result import figure_text
from wblab.study.sources.claim import Effect
from wblab.study.sources.registry import WORKS

PAGE = Path(__file__).resolve().parent / "findings" / "results-of-claims.md"
_HEAD = """\
# Results of the claims

What each claim of [what others claim](../explanation/claims.md) gave on Linux {release} with the lab's patches (kernel
build `{build}`). `make results` makes this page anew. The explanation says how claims are judged.

A figure is the mean over seeds with its 95 % interval; of times and ratios it is the geometric mean. If a figure is not
finite in every run, or about 0 in all, it is the median with the least and the greatest.
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
    yield "| claim | verdict | figure | what was measured and expected, or why it was not |"
    yield "|---|---|---|---|"
    for claim in found["claims"]:
        yield "| " + " | ".join(_row(claim)) + " |"
    yield ""


def _row(claim: Mapping[str, Any]) -> list[str]:
    effect = claim["effect"]
    expected = claim["why"].partition(";")[0]  # see wblab.study.sources.claim.judge
    what = f"{effect['what']}. {expected}" if effect else claim["why"]
    what += f". {claim['changed']}" if claim.get("changed") else ""
    cells = (f"`{claim['name']}`: {claim['says']}", claim["verdict"], _figure(effect), what)
    return [cell.replace("|", "\\|").replace("*", "\\*") for cell in cells]


def _figure(found: Mapping[str, Any] | None) -> str:
    """Return the text of an effect as verdicts.json has it, where null stands for what is not finite."""
    if found is None:
        return ""
    finite: dict[str, Any] = {key: math.inf if value is None else value for key, value in found.items()}
    return figure_text(Effect(**finite))


if __name__ == "__main__":
    PAGE.write_text(page([VERIFICATION.read(Path(name) / VERDICTS) for name in sys.argv[1:]]))
