from types import SimpleNamespace

import numpy as np
import pytest

from wblab.analysis.runs.blocks import Submitted
from wblab.analysis.statistics.decision import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.claims.sources.cases import CASES, case_spec
from wblab.claims.sources.li import claims as li
from wblab.claims.sources.li import workshops as li_workshops
from wblab.claims.sources.li.claims import UNIT_BYTES, across, beside_resync, li_claims, met_share, sectors, units_at
from wblab.claims.sources.registry import WORKS, chosen
from wblab.core.check import check_spec
from wblab.core.errors import InputError

MS = 1_000_000
CLAIMS = {claim.name: claim for claim in li_claims()}


def bios(*rows):
    """Return the I/O submitted to disks: rows of time, task, disk, place, size, write."""
    columns = list(zip(*rows, strict=True))
    kinds = (np.int64, object, object, np.int64, np.int64, bool)
    return Submitted(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))


RESYNC = bios(
    *((time * MS, "md0_resync", "a", unit * UNIT_BYTES, 65536, False) for unit, time in enumerate((10, 20, 30)))
)


@pytest.fixture
def sample(monkeypatch):
    """Return what makes a sample of loads, {name: {start in ms: pause in ms}}, and of the I/O submitted to disks."""

    def make(loads=None, found=RESYNC):
        monkeypatch.setattr(li, "page_cache", lambda run: None)
        monkeypatch.setattr(li, "submitted", lambda cache, event: found)
        items = {
            name: SimpleNamespace(
                starts_ns=np.array([start * MS for start in cycles], np.int64),
                pauses_ns=np.array([pause * MS for pause in cycles.values()], np.int64),
            )
            for name, cycles in (loads or {}).items()
        }
        return SimpleNamespace(run=SimpleNamespace(load=items.__getitem__))

    return make


def test_all_claims_exist_once_and_in_order():
    assert [int(name[1:].partition("-")[0]) for name in CLAIMS] == list(range(1, 25))
    assert all(case in CASES for claim in CLAIMS.values() for case in claim.cases)
    for claim in CLAIMS.values():
        if not claim.cases:
            assert claim.check({}).outcome == NOT_TESTABLE


def test_the_runs_of_the_claims_are_valid():
    for case in {case for claim in CLAIMS.values() for case in claim.cases}:
        check_spec(case_spec(case, 1))


def test_claims_are_selected_by_source():
    assert [claim.name for claim in chosen(["L9-small-above"], "li")] == ["L9-small-above"]
    assert len(chosen([], "li")) == len(WORKS["li"].claims) == 24
    with pytest.raises(InputError, match=r"no claim 'L9-small' \(did you mean 'L9-small-above'"):
        chosen(["L9-small"], "li")


def test_the_place_of_a_resync_is_the_unit_of_its_last_read():
    times = np.array([5, 10, 15, 25, 30, 35]) * MS
    assert units_at(RESYNC, times).tolist() == [-1, 0, 0, 1, -1, -1]
    assert units_at(RESYNC.of("b"), times).tolist() == [-1] * 6


def test_writes_at_the_resync_s_unit_are_compared_with_writes_elsewhere(sample):
    waits = sample({"w-first": {5: 99, 12: 40, 22: 20}, "w-third": {12: 20, 22: 20}})
    assert beside_resync(waits, {"w-first": 0, "w-third": 2}) == 2
    assert CLAIMS["L5-writes-wait"].check({"mirror": [waits] * 3}).outcome == REPRODUCED
    reads = sample({"r-first": {12: 20, 22: 20}, "r-third": {12: 20, 22: 20}})
    assert CLAIMS["L6-reads-pass"].check({"mirror": [reads] * 3}).outcome == REPRODUCED


@pytest.mark.parametrize(("slow", "outcome"), [(1, REPRODUCED), (4, NOT_REPRODUCED), (0, NOT_REPRODUCED)])
def test_the_share_of_writes_that_meet_the_resync_is_judged(sample, slow, outcome):
    pauses = {11 + place: 40 if place < slow else 20 for place in range(8)}
    runs = sample({"w-all": {5: 20, 6: 20} | pauses})
    assert met_share(runs) == slow / 8
    assert CLAIMS["L8-chance"].check({"mirror": [runs] * 3}).outcome == outcome


def test_boundary_crossings_of_requests_are_counted(sample):
    at = UNIT_BYTES - 65536
    above = (1, "w", "mirror", at, 131072, True)
    below = [(1, "w", "a", at, 65536, True), (1, "w", "b", UNIT_BYTES, 65536, True)]
    assert across(sample(found=bios(above, *below))) == 0
    assert across(sample(found=bios(above, *below, (2, "w", "b", at, 131072, True)))) == 1
    with pytest.raises(ValueError, match="no write to the mirror crosses a boundary"):
        across(sample(found=bios(*below)))


def test_sectors_of_writes_to_one_disk_are_counted(sample):
    rows = [(1, "w", "a", 0, 4096, True), (1, "w", "a", 0, 12288, True), (1, "w", "a", 0, 512, False)]
    assert sectors("any", "a")(sample(found=bios(*rows, (1, "w", "line", 0, 512, True)))) == 16


def test_a_sleep_is_dirtied_pages_over_the_rate_rounded_to_a_tick(sample, monkeypatch):
    runs = sample()
    events = {
        "pause": np.array([90, 70, 200, 0]),  # two follow the law, two are clipped by a limit
        "think": np.array([10, 25, 0, 0]),
        "task_ratelimit": np.array([400, 400, 400, 400]),
        "dirtied": np.array([10, 10, 90, 1]),
    }
    monkeypatch.setattr(li_workshops, "page_cache", lambda run: SimpleNamespace(events=lambda name: events))
    assert CLAIMS["L15-pause-law"].check({"ext4": [runs] * 3}).outcome == REPRODUCED
    events["pause"] = np.array([90, 60, 200, 0])
    verdict = CLAIMS["L15-pause-law"].check({"ext4": [runs] * 3})
    assert (verdict.outcome, verdict.effect.values) == (NOT_REPRODUCED, (50.0,) * 3)


@pytest.mark.parametrize(("large", "outcome"), [(120, REPRODUCED), (105, NOT_REPRODUCED)])
def test_large_chunks_are_compared_with_small_ones(monkeypatch, large, outcome):
    monkeypatch.setattr(li_workshops, "moved", lambda sample, way, since_ns: SimpleNamespace(bytes=sample.written))
    one, other = (SimpleNamespace(run=SimpleNamespace(zero_ns=0), written=size) for size in (large, 100))
    assert CLAIMS["L17-chunk"].check({"chunk-40": [one] * 3, "chunk-4": [other] * 3}).outcome == outcome


@pytest.mark.parametrize(("told_ms", "outcome"), [(80, REPRODUCED), (20, NOT_REPRODUCED)])
def test_a_task_that_dirties_too_much_has_to_sleep(told_ms, outcome):
    l1 = SimpleNamespace(pauses_ns=np.array([60 * MS, 40 * MS]))
    told = SimpleNamespace(pause_ns=np.array([told_ms * MS, -5 * MS, 0]))
    sample = SimpleNamespace(run=SimpleNamespace(load=lambda name: l1), decisions=lambda item: told)
    assert CLAIMS["L23-suspend"].check({"ext4": [sample] * 3}).outcome == outcome


@pytest.mark.parametrize(("sectors", "outcome"), [(8, REPRODUCED), (64, NOT_REPRODUCED)])
def test_merging_without_plug_and_scheduler_is_judged(sample, sectors, outcome):
    requests = sample(found=bios((1, "w", "a", 0, sectors * 512, True), (2, "w", "a", 0, sectors * 512, True)))
    assert CLAIMS["L13-plug"].check({"delay-none": [requests] * 3}).outcome == outcome
