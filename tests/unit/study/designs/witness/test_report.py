"""What a finding's statements and a work's claim come to on several substrates, as reports."""

import json

import pytest
from support.reports import cells, tables

from wblab.study.designs.witness.kept import OfStudy, Seen
from wblab.study.designs.witness.report import claim_report, statements_report
from wblab.study.designs.witness.result import Figure
from wblab.study.sources.claim import Claim
from wblab.study.statement import Effect, Verdict

W1 = {"study": "base", "page": "docs/findings/some.md", "loads": ("w1",)}
STALLED = OfStudy(text="w1 is stalled", are="stalled", **W1)
SHORT = OfStudy(text="a short queue helps", shorter="long", **W1)


def seen(name, *values_s, others_s=()):
    verdict = (SHORT if others_s else STALLED).judge(values_s, others_s)
    return Seen(name, "7.2.11", verdict, Figure(values_s))


@pytest.fixture
def of_statements():
    stalled = {"7.2": seen("7.2", 1.0, 2.0), "stock:7.2": seen("stock:7.2", 3.0, 4.0)}
    shorter = {"7.2": seen("7.2", 5.0, 5.0, others_s=(9.0, 9.0)), "stock:7.2": None}
    return statements_report("Some finding", [(STALLED, stalled), (SHORT, shorter)], {"base": {"directory": "exp/1"}})


def test_each_statement_heads_what_each_place_says(of_statements):
    (table,) = tables(of_statements)
    assert of_statements.headline == "1 of 2 statements hold in every run, in every place."
    assert [row for row in table.rows if isinstance(row, str)] == [STALLED.text, SHORT.text]
    assert cells(table) == [
        ["7.2", "in every run", "1.50 s (1.00 to 2.00)"],
        ["stock:7.2", "in every run", "3.50 s (3.00 to 4.00)"],
        ["7.2", "in no run", "5 s"],
        ["stock:7.2", "no run succeeded", "-"],
    ]


def test_programs_read_the_statements_and_the_studies(of_statements):
    said = json.loads(json.dumps(of_statements.to_json()))
    first, second = said["statements"]
    assert first["on"]["7.2"] == {"holds": "in every run", "longest_pause_s": [1.0, 2.0]}
    assert second["on"]["stock:7.2"] is None
    assert said["studies"] == {"base": {"directory": "exp/1"}}


def test_a_claim_has_a_figure_or_a_reason_on_each_place():
    effect = Effect("mw1's time in openat", "%", (50.0, 60.0), 55.0, 50.0, 60.0, "range")
    verdicts = {"7.2": Verdict("reproduced", "it was", effect), "6.1": Verdict("not testable", "no such device")}
    found = claim_report(Claim("openat", "mw1 is blocked in openat", "the thesis", ("base",), lambda _: None), verdicts)
    (table,) = tables(found)
    assert "".join(str(getattr(part, "text", part)) for part in found.headline) == (
        "mw1 is blocked in openat: 1 reproduced, 1 not testable"
    )
    assert cells(table) == [
        ["7.2", "reproduced", "55 % (50 to 60)", "mw1's time in openat"],
        ["6.1", "not testable", "", "no such device"],
    ]
    said = json.loads(json.dumps(found.to_json()))
    assert said["on"]["7.2"]["figure"] == {"what": "mw1's time in openat", "unit": "%", "values": [50.0, 60.0]}
    assert said["on"]["6.1"]["figure"] is None
