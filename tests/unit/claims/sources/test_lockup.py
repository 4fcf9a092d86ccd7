"""Each check of the base experiment accepts what the thesis observed and rejects the opposite."""

import numpy as np
import pytest

from wblab.analysis.statistics.decision import NOT_DECIDED, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.claims.sources.sample import Calls
from wblab.claims.sources.thesis.lockup import base_claims, flush_claim

S = 10**9
SEEDS = 8  # enough seeds to decide a share
CLAIMS = {claim.name: claim for claim in [*base_claims("ext2", "x"), flush_claim("ext2", "x")]}


def verdict(name, *samples):
    return CLAIMS[f"{name}-x"].check({"ext2": list(samples) * (1 if len(samples) > 1 else SEEDS)})


def outcome(name, *samples):
    return verdict(name, *samples).outcome


@pytest.mark.parametrize(("full_s", "expected"), [(6.5, REPRODUCED), (12, NOT_REPRODUCED), (1000, NOT_REPRODUCED)])
def test_fills_claim(sample, made, full_s, expected):
    assert outcome("fills", sample(state=made.states(full_s=full_s))) == expected


def test_a_limit_that_was_reached_before_the_offender_does_not_count(sample, made):
    found = verdict("fills", sample(state=made.states(full_s=0)))
    assert found.effect.middle >= 0


@pytest.mark.parametrize("name", ["l1", "mw1"])
@pytest.mark.parametrize(("pause_s", "expected"), [(3.0, REPRODUCED), (1.2, NOT_REPRODUCED)])
def test_pauses_claim(sample, name, pause_s, expected):
    found = verdict(f"pauses-{name}", sample({name: {10: pause_s}}))
    assert found.outcome == expected
    assert found.effect.middle == pytest.approx(pause_s, abs=0.11)


def test_spared_w1_claim(sample):
    assert outcome("spared-w1", sample({"mw1": {10: 3.0}})) == REPRODUCED
    assert outcome("spared-w1", sample({"w1": {10: 0.9}})) == NOT_REPRODUCED


def test_openat_is_judged_by_its_own_events(sample, made):
    whole = Calls(np.array([made.pids["mw1"]]), np.array([10 * S]), np.array([14 * S]), traced=True)
    other = Calls(np.array([made.pids["w1"]]), np.array([10 * S]), np.array([14 * S]), traced=True)
    assert outcome("openat", sample({"mw1": {10: 3.0}}, opens=whole)) == REPRODUCED
    assert outcome("openat", sample({"mw1": {10: 3.0}}, opens=other)) == NOT_REPRODUCED
    assert outcome("openat", sample()) == NOT_REPRODUCED  # no pause at all


def test_openat_without_its_events_is_known_only_if_writes_explain_the_pause(sample, made):
    throttled = made.decisions("mw1", [11], [0])
    none = Calls(traced=False)
    found = verdict("openat", sample({"mw1": {10: 3.0}}, throttling=throttled, opens=none))
    assert (found.outcome, found.effect.middle) == (NOT_REPRODUCED, 0)
    assert outcome("openat", sample({"mw1": {10: 3.0}}, opens=none)) == NOT_TESTABLE


@pytest.mark.parametrize("start", [126, 135])
def test_where_the_limit_starts_is_measured_and_not_judged_as_the_lab_chooses_the_memory_beside(sample, made, start):
    found = verdict("limit-starts", sample(state=made.states(start=start)))
    assert found.outcome == NOT_TESTABLE
    assert found.effect.middle == pytest.approx(start, abs=0.1)


def test_thresholds_stay_claim(sample, made):
    assert outcome("thresholds-stay", sample(state=made.states(drift=0.05))) == REPRODUCED
    assert outcome("thresholds-stay", sample(state=made.states(drift=0.3))) == NOT_REPRODUCED


@pytest.mark.parametrize(("falls_s", "expected"), [(25, REPRODUCED), (45, NOT_REPRODUCED), (1000, NOT_REPRODUCED)])
def test_limit_falls_claim(sample, made, falls_s, expected):
    assert outcome("limit-falls", sample(state=made.states(falls_s=falls_s))) == expected


@pytest.mark.parametrize(
    ("pauses", "expected"), [({10: 2.0, 22: 2.0}, REPRODUCED), ({45: 2.0}, NOT_REPRODUCED), ({}, NOT_REPRODUCED)]
)
def test_pauses_stop_claim(sample, pauses, expected):
    assert outcome("pauses-stop", sample({"mw1": pauses})) == expected


@pytest.mark.parametrize(
    ("stopped_s", "after", "expected"), [(25, 100, REPRODUCED), (25, 3, NOT_REPRODUCED), (50, 100, NOT_REPRODUCED)]
)
def test_rate_limiting_claim(sample, made, stopped_s, after, expected):
    times = [stopped_s, *np.linspace(stopped_s + 0.1, 59, after)]
    throttling = made.decisions("l1", times, [0] + [1000] * after)
    assert outcome("rate-limiting", sample(throttling=throttling)) == expected


def test_l2_harmless_claim(sample):
    assert outcome("l2-harmless", sample({"w1": {10: 5.0}})) == REPRODUCED
    assert outcome("l2-harmless", sample({"w1": {50: 5.0}})) == NOT_REPRODUCED


def test_flush_bound_claim(sample):
    assert outcome("flush-bound", sample({"w1": {10: 5.0}})) == REPRODUCED  # 10 MiB at 1 MiB/s: 10 s
    found = verdict("flush-bound", sample({"w1": {10: 15.0}}))
    assert found.outcome == NOT_REPRODUCED
    assert found.effect.middle == pytest.approx(1.5, abs=0.02)


def test_disagreeing_seeds_decide_nothing(sample):
    yes, no = sample({"mw1": {10: 3.0}}), sample()
    found = verdict("pauses-mw1", yes, yes, yes, yes, no)
    assert (found.outcome, found.held) == (NOT_DECIDED, 4)
    assert outcome("pauses-mw1", yes, no, no, no, no) == NOT_REPRODUCED
