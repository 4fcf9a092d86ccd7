"""The verdicts of a verification, as its verdicts.json has them, as a page."""

import math
from collections.abc import Mapping
from typing import Any

from wblab.lab.printable import printable
from wblab.report.palette import look_of
from wblab.report.render import render
from wblab.study.designs.cases.result import figure_text
from wblab.study.sources.claim import Effect
from wblab.study.sources.registry import WORKS


def verdicts_page(found: Mapping[str, Any]) -> str:
    """Return the page. Raises AttributeError, KeyError, TypeError and ValueError for what no verification wrote."""
    work = WORKS[found["work"]]
    rows = [_row(claim) for claim in found["claims"]]
    about = {"title": work.title, "cites": work.cites, "seeds": int(found["seeds"])}
    return render("wblab.publish.site", "verdicts.html", rows=rows, **about)


def _row(claim: Mapping[str, Any]) -> dict[str, Any]:
    effect = claim["effect"]
    return {
        "name": printable(claim["name"]),
        "says": printable(claim["says"]),
        "look": look_of(claim["verdict"]),
        "why": printable(claim["why"]),
        "changed": printable(claim.get("changed", "")),
        "figure": printable(_figure(effect)) if effect else "",
        "what": printable(effect["what"]) if effect else "",
    }


def _figure(effect: Mapping[str, Any]) -> str:
    """Return an effect's figure; null stands for what is not finite."""
    finite: dict[str, Any] = {key: math.inf if value is None else value for key, value in effect.items()}
    return figure_text(Effect(**finite))
