"""Checks that compare cases, and checks of the device disk."""

import json
from dataclasses import replace

import pytest

from wblab.analysis.statistics.decision import NOT_DECIDED, NOT_REPRODUCED, REPRODUCED
from wblab.claims.sources.thesis.disks import (
    CASE,
    check_found,
    limit_claims,
    live_claims,
    mitigation_claims,
    sync_claims,
)

CLAIMS = {claim.name: claim for claim in [*sync_claims(), *live_claims(), *mitigation_claims(), *limit_claims()]}
SEEDS = 8  # enough seeds to decide a share
LONG = {"w1": {10: 4.0}, "mw1": {10: 4.0}}


def outcome(name, **cases):
    many = {case.replace("_", "-"): runs * (1 if len(runs) > 1 else SEEDS) for case, runs in cases.items()}
    return CLAIMS[name].check(many).outcome


def test_sync_no_pauses_claim(sample):
    assert outcome("sync-no-pauses", sync=[sample()]) == REPRODUCED
    assert outcome("sync-no-pauses", sync=[sample(LONG)]) == NOT_REPRODUCED


def test_live_w1_claim(sample):
    assert outcome("live-w1", device=[sample(LONG)]) == REPRODUCED
    assert outcome("live-w1", device=[sample({"mw1": {10: 4.0}})]) == NOT_REPRODUCED


def test_live_unthrottled_claim(sample, made):
    pauses = {"mw1": {10: 4.0}}
    assert outcome("live-unthrottled", device=[sample(pauses)]) == REPRODUCED
    asked = sample(pauses, throttling=made.decisions("mw1", [11], [0]))
    assert outcome("live-unthrottled", device=[asked]) == NOT_REPRODUCED
    assert outcome("live-unthrottled", device=[sample()]) == NOT_REPRODUCED  # hardly any pauses


def test_live_release_claim(sample):
    at_the_end = [13.999] * 6  # mw1's cycles begin every 100 ms, the pause at 10 s ends at 14 s
    pauses = {"mw1": {10: 4.0}}
    assert outcome("live-release", device=[sample(pauses, released_s=at_the_end)]) == REPRODUCED
    assert outcome("live-release", device=[sample(pauses, released_s=[12.0] * 6)]) == NOT_REPRODUCED
    assert outcome("live-release", device=[sample(pauses, released_s=[13.999])]) == NOT_REPRODUCED  # too few
    assert outcome("live-release", device=[sample()]) == NOT_REPRODUCED


def test_bfq_on_the_throttled_disk_claim(sample):
    before = [sample(LONG)] * 3
    assert outcome("bfq-throttled", ext4=before, ext4_bfq=before) == REPRODUCED
    assert outcome("bfq-throttled", ext4=before, ext4_bfq=[sample({"mw1": {10: 1.0}})] * 3) == NOT_REPRODUCED


@pytest.mark.parametrize("name", ["bfq-longest", "bfq-wait"])
def test_bfq_alone_claim(sample, name):
    before = [sample(LONG)] * 3
    assert outcome(name, device=before, device_bfq=[sample({"mw1": {10: 3.0}})] * 3) == REPRODUCED
    assert outcome(name, device=before, device_bfq=before) == NOT_REPRODUCED


@pytest.mark.parametrize("name", ["bfq-idle-longest", "bfq-idle-wait", "bfq-idle-paused"])
def test_bfq_with_the_idle_class_claim(sample, name):
    before = [sample(LONG)] * 3
    assert outcome(name, device=before, device_bfq_idle=[sample({"mw1": {10: 1.9}})] * 3) == REPRODUCED
    assert outcome(name, device=before, device_bfq_idle=before) == NOT_REPRODUCED


def test_the_idle_class_adds_to_bfq_claim(sample):
    bfq = [sample(LONG)] * 3
    assert outcome("idle-adds", device_bfq=bfq, device_bfq_idle=[sample({"mw1": {10: 2.0}})] * 3) == REPRODUCED
    assert outcome("idle-adds", device_bfq=bfq, device_bfq_idle=bfq) == NOT_REPRODUCED
    hardly = [sample({name: {10: 3.99} for name in LONG})] * 3
    assert outcome("idle-adds", device_bfq=bfq, device_bfq_idle=hardly) == NOT_REPRODUCED


@pytest.mark.parametrize(("name", "case"), [("memory-limit", "group_memory"), ("io-limit", "group_io")])
def test_a_limit_without_effect_claim(sample, name, case):
    before = [sample(LONG)] * 3
    assert outcome(name, group=before, **{case: before}) == REPRODUCED
    assert outcome(name, group=before, **{case: [sample({"mw1": {10: 1.0}})] * 3}) == NOT_REPRODUCED


@pytest.mark.parametrize("name", ["all-longest", "all-wait"])
def test_all_limits_together_claim(sample, name):
    before = [sample(LONG)] * 3
    assert outcome(name, group=before, group_all=[sample({"mw1": {10: 1.9}})] * 3) == REPRODUCED
    assert outcome(name, group=before, group_all=before) == NOT_REPRODUCED


def test_a_large_mean_effect_with_disagreeing_seeds_is_not_claimed(sample):
    before = [sample(LONG)] * 3
    changed = [sample({"mw1": {10: 0.2}}), sample(LONG), sample({"mw1": {10: 6.0}})]
    verdict = CLAIMS["bfq-idle-longest"].check({"device": before, "device-bfq-idle": changed})
    assert verdict.effect.middle < 0.6
    assert verdict.effect.high > 1
    assert verdict.outcome == NOT_DECIDED


def test_a_comparison_needs_seeds(sample):
    assert outcome("bfq-longest", device=[sample(LONG)] * 2, device_bfq=[sample()] * 2) == NOT_DECIDED


def test_sync_latency_claim(sample):
    slow = [sample({"w1": {t / 10: 0.05 for t in range(600)}})] * 3
    assert outcome("sync-latency", sync=slow, ext4=slow) == NOT_REPRODUCED
    quick = [sample()] * 3
    assert outcome("sync-latency", sync=slow, ext4=quick) == REPRODUCED


@pytest.fixture
def watched(sample, tmp_path):
    """Return a function that makes a sample in which the daemon throttled these programs."""

    def make(*held):
        events = [{"action": "note", "name": ""}, *({"action": "hold", "name": name} for name in held)]
        (tmp_path / "agent.mitigate.log").write_text("".join(f"{json.dumps(event)}\n" for event in events))
        made = sample()
        return replace(made, run=replace(made.run, path=tmp_path))

    return make


@pytest.mark.parametrize(
    ("held", "outcome"),
    [
        (("l1", "l2"), REPRODUCED),
        (("l1", "l2", "l1"), REPRODUCED),
        (("l1",), NOT_REPRODUCED),
        (("l1", "l2", "mw1"), NOT_REPRODUCED),
        ((), NOT_REPRODUCED),
    ],
)
def test_the_daemon_must_find_exactly_both_offenders(watched, held, outcome):
    assert check_found({CASE: [watched(*held)] * 8}).outcome == outcome
