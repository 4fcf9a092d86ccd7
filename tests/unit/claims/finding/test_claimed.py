"""Verdicts on claims in a finding: kept as they were found, and shown by kernel."""

import pytest

from wblab.analysis.statistics.decision import over
from wblab.claims.finding.claimtable import FILE, SeenClaim, cells, read, seen, write
from wblab.claims.finding.finding import ClaimTable
from wblab.claims.sources.claim import Claim, untested
from wblab.core.errors import InputError
from wblab.study.statement import Verdict, judge, over_seeds

TABLE = ClaimTable(source="thesis", kernels=("6.1", "7.2"), rows={"the longest": "pauses", "its share": "openat"})
KEPT = {
    ("6.1", "pauses"): SeenClaim("reproduced", "24.4 s"),
    ("7.2", "pauses"): SeenClaim("not reproduced", "1.28 s"),
    ("6.1", "openat"): SeenClaim("not decided", "50 %"),
}


def test_a_table_has_a_row_for_each_claim_and_a_column_for_each_kernel():
    heads, rows = cells(TABLE, KEPT)
    assert heads == ["claim", "6.1", "7.2"]
    assert rows == [["the longest", "**24.4 s**", "1.28 s"], ["its share", "50 %, not decided", "–"]]


def test_what_is_kept_is_what_tables_show(tmp_path):
    write(tmp_path, KEPT | {("6.12", "pauses"): SeenClaim("reproduced", "9.0 s")}, [TABLE])
    assert read(tmp_path) == KEPT


def test_nothing_is_kept_at_first_and_damage_is_said(tmp_path):
    assert not read(tmp_path)
    (tmp_path / FILE).write_text('{"format": 1, "kind": "verdicts", "verdicts": [{"kernel": "6.1"}]}')
    with pytest.raises(InputError, match="is damaged"):
        read(tmp_path)


def test_a_verdict_is_seen_with_its_figure():
    claim = Claim("pauses", "", "", (), untested(""))
    verdict = judge(over_seeds("the longest", "s", [5.0, 5.1, 5.2, 5.1, 5.0]), over(2), "over 2 s")
    assert seen("6.1", [(claim, verdict)]) == {("6.1", "pauses"): SeenClaim(verdict.outcome, "5.08 s")}
    assert seen("6.1", [(claim, Verdict("not testable", "why"))]) == {("6.1", "pauses"): SeenClaim("not testable")}
