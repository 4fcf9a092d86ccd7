"""The whole analysis of an exploration."""

import json
import math

import numpy as np
import pytest
from support.explored import design, observed

from wblab.analysis.sensitivity.analysis import analyse, floor
from wblab.analysis.sensitivity.anova import Sampling
from wblab.analysis.sensitivity.observed import Response

QUICK = Sampling(permutations=399, resamples=50)
FACTORS = {"limit": (12, True), "scheduler": (4, False), "idle": (5, True), "dummy": (8, True)}


def invented(rows=1024):
    made = design(rows, FACTORS)
    codes, random = made[2], np.random.default_rng(1)
    pause = 2.0 ** (codes[:, 0] - 6) * np.where(codes[:, 1] == 2, 0.2, 1) * np.exp(random.normal(0, 0.3, rows))
    pause[:3] = np.nan
    return observed(
        made,
        {
            "pause": pause,
            "rate": Response("rate", "bytes/s", 50 + codes[:, 0] + random.normal(0, 2, rows), more_is_better=True),
            "same": np.zeros(rows),
        },
    )


@pytest.fixture(scope="module")
def whole():
    return analyse(invented(), seed=3, sampling=QUICK)


def named(analysis, name):
    return next(finding for finding in analysis.findings if finding.response == name)


def test_a_response_over_decades_is_analysed_on_three_scales(whole):
    pause, rate = named(whole, "pause"), named(whole, "rate")
    assert [view.scale for view in pause.views] == ["log2", "raw", "tail"]
    assert [view.scale for view in rate.views] == ["raw", "tail"]
    for view in pause.views:
        found = {effect.factors[0] for effect in view.variance.mains if effect.found}
        assert found == {"limit", "scheduler"}
    assert pause.view("log2").variance.mains[0].share > pause.view("raw").variance.mains[0].share
    assert rate.view("log2") is None


def test_failed_rows_and_constant_responses_get_notes(whole):
    pause, same = named(whole, "pause"), named(whole, "same")
    assert (pause.rows, pause.failed, pause.notes) == (1021, 3, ("3 of 1024 rows have no pause and are left out",))
    assert (same.views, same.tail, same.region, same.estimates) == ((), None, None, ())
    assert "depends on no factor" in same.notes[0]


def test_the_tail_and_the_best(whole):
    pause = named(whole, "pause")
    assert {level.factor for level in pause.tail.levels if level.leads} == {"limit", "scheduler"}
    assert ("scheduler", "scheduler2") in {
        (level.factor, level.level) for level in pause.best.levels if level.leads > 0
    }
    assert pause.maps[0].factors == ("limit", "scheduler")
    assert not any("dummy" in chart.factors for chart in pause.maps)
    assert [front.against for front in pause.fronts] == ["rate"]
    assert pause.region.inside[1].response == "rate"


def test_the_noise_floor(whole):
    found = named(whole, "pause").views[0].variance
    assert 0 <= floor(found, whole.factors) < 0.03
    assert math.isnan(floor(found, whole.factors[:3]))


def test_zeros_have_no_logarithm():
    made = design(256, FACTORS)
    values = 10.0 ** made[2][:, 0]
    values[:20] = 0
    finding = analyse(observed(made, {"pause": values}), sampling=QUICK).findings[0]
    assert "20 rows measured 0" in finding.notes[0]
    values[:200] = 0
    finding = analyse(observed(made, {"pause": values}), sampling=QUICK).findings[0]
    assert [view.scale for view in finding.views] == ["raw", "tail"]


def test_a_finding_does_not_depend_on_the_others(whole):
    alone = analyse(invented(), ["rate"], seed=3, sampling=QUICK)
    assert alone.findings == (named(whole, "rate"),)
    assert alone.findings != analyse(invented(), ["rate"], seed=4, sampling=QUICK).findings


def test_progress_is_reported_by_response():
    said = []
    analyse(invented(), ["pause", "rate"], sampling=QUICK, report=lambda *what: said.append(what))
    assert said == [(0, "pause"), (1 / 6, "pause"), (1 / 3, "pause"), (0.5, "rate"), (0.75, "rate")]


def test_as_json(whole):
    content = json.loads(json.dumps(whole.to_json(), allow_nan=False))
    assert (content["format"], content["kind"], content["rows"]) == (1, "analysis", 1024)
    (pause,) = [finding for finding in content["findings"] if finding["response"] == "pause"]
    effect = pause["views"][0]["variance"]["mains"][0]
    assert (effect["factors"], effect["found"]) == (["limit"], True)
    assert effect["low"] < effect["share"] < effect["high"]
