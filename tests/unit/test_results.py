"""The page of the claims' results is made from verdicts."""

import re

from results import PAGE, page

from wblab.lab.formats import VERIFICATION
from wblab.lab.places import ROOT

KERNEL = {"release": "7.2.11", "build_id": "d8fbc28a1c03dc5fab"}
EFFECT = {
    "what": "a | b",
    "spread": "mean",
    "unit": "s",
    "values": [1.0, 2.0, 4.0],
    "middle": 2.0,
    "low": 1.0,
    "high": 4.0,
}


def claim(name, verdict, effect=None, why="it needs two processors"):
    return {"name": name, "says": "it *is* so", "verdict": verdict, "why": why, "effect": effect}


def found(work, *claims):
    return VERIFICATION.head() | {"work": work, "kernel": KERNEL, "seeds": 3, "claims": list(claims)}


def test_works_stand_in_their_order_with_a_row_for_each_claim():
    never = EFFECT | {"values": [None], "middle": None, "low": None, "high": None}
    held = claim("a", "reproduced", EFFECT, "Expected: at most 4 s; met by 3 of 3 seeds")
    text = page([
        found("li", claim("L1", "not testable")),
        found("thesis", held, claim("b", "not decided", never)),
    ])  # fmt: skip
    assert text.index("## The thesis's claims") < text.index("## Coly Li's claims")
    assert "`wblab verify --source thesis`, 3 seeds: 1 reproduced, 1 not decided." in text
    assert "| `a`: it \\*is\\* so | reproduced | 2 s (1 to 4) | a \\| b. Expected: at most 4 s |" in text
    assert "| `b`: it \\*is\\* so | not decided | never | a \\| b. it needs two processors |" in text
    assert "| `L1`: it \\*is\\* so | not testable |  | it needs two processors |" in text
    assert "build `d8fbc28a1c03dc5f`" in text


def test_the_intervals_that_the_explanation_cites_are_those_of_the_page():
    prose = re.sub(r"\s+", " ", (ROOT / "docs/explanation/claims.md").read_text())
    cited = set(re.findall(r"\([\d.]+ to [\d.]+\)", prose))
    assert cited
    assert not {interval for interval in cited if interval not in PAGE.read_text()}
