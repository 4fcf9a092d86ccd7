"""Verdicts as text, as valid JSON and as a self-contained page."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from support.reports import cells, tables

from wblab.analysis.statistics.decision import (
    NOT_DECIDED,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    at_most,
    over,
    under,
)
from wblab.claims.sources.cases import CASES
from wblab.claims.sources.claim import settled
from wblab.claims.sources.registry import CLAIMS, chosen
from wblab.claims.sources.sample import pair_calls
from wblab.claims.verify.report import DrawnClaim, keep, kept_report, report, write_report
from wblab.claims.verify.result import VerificationResult, figure_text
from wblab.core.errors import InputError
from wblab.report.quantities import listed
from wblab.report.report import text_of
from wblab.study.statement import judge, over_seeds, ratio

NAMES = ["pauses-mw1-ext2", "limit-falls-ext2", "daemon-cpu"]


@pytest.fixture
def result(sample, made):
    samples = {"ext2": [sample({"mw1": {10: 3.0}}, state=made.states(falls_s=1000))] * 8}
    claims = chosen(NAMES)
    verdicts = tuple(zip(claims, settled([claim.check(samples) for claim in claims]), strict=True))
    return VerificationResult({"release": "7.3.0", "build_id": "f00"}, 8, 12.3, verdicts, samples)


def test_claims_have_unique_names_and_existing_cases():
    names = [claim.name for claim in CLAIMS]
    assert len(set(names)) == len(names)
    assert all(case in CASES for claim in CLAIMS for case in claim.cases)


def test_claims_without_cases_have_a_reason():
    for claim in CLAIMS:
        if not claim.cases:
            verdict = claim.check({})
            assert verdict.outcome == NOT_TESTABLE
            assert len(verdict.why) > 20


def test_claims_of_one_source_are_adjacent():
    sources = [claim.source for claim in CLAIMS]
    turns = [source for source, before in zip(sources, [None, *sources], strict=False) if source != before]
    assert len(set(turns)) == len(turns)


def test_an_unknown_claim_is_refused():
    with pytest.raises(InputError, match="did you mean 'daemon-cpu'"):
        chosen(["demon"])


def test_an_effect_over_seeds_has_an_interval():
    two = over_seeds("it", "s", [3.0, 1.0])
    assert (two.low, two.middle, two.high, two.spread) == (1, 2, 3, "median, least and greatest of all seeds")
    assert figure_text(two) == "2 s (1 to 3)"
    effect = over_seeds("it", "s", [1.0, 2.0, 4.0, 2.0])
    assert effect.middle == pytest.approx(2)
    assert 0 < effect.low < 2 < effect.high
    assert judge(effect, over(1), "over 1 s").held == 3
    assert over_seeds("it", "s", [0.0, 0.0, 0.0, 0.0]).middle == 0  # the logarithm of 0 is avoided
    less = over_seeds("it", "s", [-1.0, 1.0, 0.0], is_log=False)
    assert less.low < 0 < less.high


def test_a_ratio_is_computed_by_seed_and_not_of_sums():
    effect = ratio("it", [1.0, 10.0, 100.0], [2.0, 20.0, 200.0])
    assert effect.middle == pytest.approx(0.5)
    assert effect.low == pytest.approx(effect.high)
    spread = ratio("it", [1.0, 4.0, 1.0], [1.0, 1.0, 4.0])
    assert spread.low < 1 < spread.high
    few = ratio("it", [1.0, 2.0], [2.0, 2.0])
    assert judge(few, under(2), "less").outcome == NOT_DECIDED


@pytest.mark.parametrize("seeds", [3, 5])
def test_the_interval_of_a_ratio_has_nearly_its_nominal_coverage(seeds):
    """Plain percentiles of resampled means cover it in 76 % of cases with 3 seeds, in 84 % with 5."""
    random, held, cases = np.random.default_rng(4), 0, 300
    for _ in range(cases):
        before, changed = np.exp(random.normal(0, 0.3, (2, seeds)))
        effect = ratio("it", (2 * changed).tolist(), before.tolist())
        held += effect.low <= 2 <= effect.high
    assert held / cases > 0.88


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ([2.0, 2.1, 1.9, 2.05, 1.95], REPRODUCED),
        ([0.5, 0.51, 0.49, 0.5, 0.52], NOT_REPRODUCED),
        ([0.9, 1.4, 0.8, 1.3, 1.2], NOT_DECIDED),
        ([2.0, 2.1], NOT_DECIDED),
        ([1.0, 1.0, 1.0], NOT_REPRODUCED),
        ([math.inf] * 5, REPRODUCED),
        ([math.inf] * 3, NOT_DECIDED),
        ([math.inf, math.inf, math.inf, 2.0, 0.5], NOT_DECIDED),
    ],
)
def test_the_position_of_the_interval_decides(values, outcome):
    assert judge(over_seeds("it", "s", values), over(1), "over 1 s").outcome == outcome


@pytest.mark.parametrize(
    ("values", "outcome"), [([0.1] * 5, REPRODUCED), ([0.1] * 3, NOT_DECIDED), ([0.9] * 5, NOT_REPRODUCED)]
)
def test_claims_that_something_never_happens_are_decided_by_the_share_of_seeds(values, outcome):
    found = judge(over_seeds("it", "s", values), at_most(0.5), "none over 0.5 s", each=True)
    assert found.outcome == outcome
    assert "% of runs)" in found.why


def test_a_doubtful_verdict_among_many_is_not_decided():
    """Five of five seeds decide a share alone or among certain verdicts, but not among equally doubtful ones."""
    doubtful = judge(over_seeds("it", "s", [0.1] * 5), at_most(0.5), "none over 0.5 s", each=True)
    certain = judge(over_seeds("it", "s", [2.0] * 3), over(1), "over 1 s")
    open_one = judge(over_seeds("it", "s", [0.9, 1.4, 0.8, 1.3, 1.2]), over(1), "over 1 s")
    assert [item.outcome for item in settled([doubtful, certain, certain])] == [REPRODUCED] * 3
    found = settled([doubtful, open_one, open_one, open_one])
    assert [item.outcome for item in found] == [NOT_DECIDED] * 4
    assert all("More seeds may decide it" in item.why for item in found)


def test_an_infinite_figure_reads_never():
    assert figure_text(over_seeds("it", "s", [math.inf])) == "never"


def test_calls_are_paired_by_task():
    pids, times = np.array([1, 2, 1, 3]), np.array([10, 20, 30, 40])
    calls = pair_calls((pids, times), (np.array([2, 1, 1]), np.array([25, 28, 35])))
    assert calls.pid.tolist() == [1, 2, 1]
    assert (calls.ends_ns - calls.starts_ns).tolist() == [18, 5, 5]


def test_json_has_no_nan_or_infinity(result, tmp_path):
    text = json.dumps(result.to_json(tmp_path), allow_nan=False)
    claims = {claim["name"]: claim for claim in json.loads(text)["claims"]}
    assert claims["limit-falls-ext2"]["effect"]["middle"] is None
    assert claims["limit-falls-ext2"]["verdict"] == "not reproduced"
    assert claims["pauses-mw1-ext2"]["held"] == 8
    assert claims["daemon-cpu"]["effect"] is None


def test_the_report_has_each_claim_and_counts_them(result):
    made = report(result)
    assert [row[0] for row in cells(tables(made)[0])] == NAMES
    assert text_of(made.headline) == (
        "Linux 7.3.0, 8 seeds, 12.3 s: 1 reproduced, 1 not reproduced, 0 not decided, 1 not testable"
    )


def test_the_report_of_kept_verdicts_says_the_same(result, tmp_path):
    told, _ = write_report(result, tmp_path)
    again = kept_report(json.loads((tmp_path / "verdicts.json").read_text()))
    assert tables(again)[0] == tables(told)[0]


@pytest.mark.parametrize(("form", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_page_is_complete_with_its_figures(result, tmp_path, form, begins):
    drawn = DrawnClaim("a", "a <figure>", "of two runs", Figure())
    shown = {case: [keep(drawn, tmp_path, form)] for case in result.samples}
    page = write_report(result, tmp_path, form, shown)[1].read_text()
    assert "a &lt;figure&gt;" in page
    assert 'src="data:image/png;base64,iVBOR' in page
    assert "http" not in page
    for name in NAMES:
        assert name in page
    for _, verdict in result.verdicts:
        if verdict.effect:
            assert f"{verdict.effect.what}: {listed(verdict.effect.values, verdict.effect.unit)}" in page
    assert json.loads((tmp_path / "verdicts.json").read_text())["seeds"] == 8
    assert (tmp_path / f"a.{form}").read_bytes().startswith(begins)


def test_a_report_is_also_written_where_all_runs_of_a_case_failed(result, tmp_path):
    without = replace(result, samples={**result.samples, "device": []})
    assert "pauses-mw1-ext2" in write_report(without, tmp_path)[1].read_text()
