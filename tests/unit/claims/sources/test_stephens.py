"""Stephens's claims: verdicts from calls, states and events, and valid cases."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from wblab.analysis.runs import pagecache
from wblab.analysis.statistics.decision import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.claims.sources.cases import CASES, case_spec
from wblab.claims.sources.registry import WORKS, chosen
from wblab.claims.sources.stephens import claims as stephens
from wblab.claims.sources.stephens import latency as stephens_latency
from wblab.claims.sources.stephens import tracingclaims as stephens_events
from wblab.claims.sources.stephens.claims import stephens_claims
from wblab.claims.sources.stephens.latency import line
from wblab.core.check import check_spec
from wblab.lab.disks import read_disk
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

US, MS = 1000, 1_000_000
CLAIMS = {claim.name: claim for claim in stephens_claims()}
SEEDS = 8  # enough seeds to decide a share


def outcome(name, *runs):
    """Return the outcome of a claim from one run of each of its cases."""
    return CLAIMS[name].check({case: [run] * SEEDS for case, run in zip(CLAIMS[name].cases, runs, strict=True)}).outcome


def test_all_claims_exist_once_and_in_order():
    numbers = [int(name[1:].partition("-")[0]) for name in CLAIMS]
    assert (set(numbers), numbers) == (set(range(1, 15)), sorted(numbers))
    assert len(CLAIMS) == len(WORKS["stephens"].claims) == len(stephens_claims())
    assert [claim.name for claim in chosen(["S8-ram"], "stephens")] == ["S8-ram"]
    for claim in CLAIMS.values():
        if not claim.cases:
            verdict = claim.check({})
            assert verdict.outcome == NOT_TESTABLE
            assert len(verdict.why) > 20


def test_the_runs_of_the_claims_are_valid():
    for case in {case for claim in CLAIMS.values() for case in claim.cases}:
        check_spec(replace(case_spec(case, 1), name="x"))
        assert CASES[case].preset in ("sync-devices", "sync-latency")


def test_the_devices_of_the_preset_are_the_lab_s():
    spec = read_spec(SPECS.find("sync-devices"))
    for name in ("hdd", "ssd"):
        disk = spec.disk[name]
        own = {"size": disk.size, "driver": disk.driver, "queue": disk.queue}
        assert replace(read_disk(name), **own) == disk


def late(time_us):
    """Return a function that gives a control load which wakes up this late."""
    return lambda name: {"c1": SimpleNamespace(pauses_ns=np.full(9, time_us * US))}[name]


@pytest.fixture
def timed(monkeypatch):
    """Return a function that makes a sample of calls, {(load, call): time in us}, on disks with latencies in us."""

    def make(times, latencies=(), late_us=100):
        found = {key: np.full(8, int(time * US)) for key, time in times.items()}
        monkeypatch.setattr(stephens, "call_us", lambda sample, load, call: sample.times[load, call])
        spec = read_spec(SPECS.find("sync-latency"))
        disks = {
            name: replace(disk, latency=int(latency * US))
            for (name, disk), latency in zip(spec.disk.items(), latencies, strict=False)
        }
        run = SimpleNamespace(spec=replace(spec, disk=disks), load=late(late_us))
        return SimpleNamespace(times=times, durations=found, run=run)

    monkeypatch.setattr(stephens_latency, "durations", lambda sample: sample.durations)
    return make


def calls(fsync, write, size="4k"):
    """Return times of calls: fsync and write() by device, in us."""
    return {(f"{device}-{size}", "fsync"): time for device, time in fsync.items()} | {
        (f"{device}-{size}", "write"): time for device, time in write.items()
    }


HIS = calls({"hdd": 38687, "ssd": 1429, "ram": 7}, {"hdd": 835, "ssd": 53, "ram": 4})
OURS = calls({"hdd": 17000, "ssd": 550, "ram": 138}, {"hdd": 79, "ssd": 43, "ram": 43})


@pytest.mark.parametrize(
    ("name", "his", "ours"),
    [
        ("S4-hdd", REPRODUCED, REPRODUCED),
        ("S4-ssd", NOT_REPRODUCED, NOT_REPRODUCED),  # 26.96, rounded in the source
        ("S4-ram", REPRODUCED, NOT_REPRODUCED),
        ("S6-hdd", REPRODUCED, NOT_REPRODUCED),
        ("S6-ssd", REPRODUCED, NOT_REPRODUCED),
        ("S13-hdd", REPRODUCED, NOT_REPRODUCED),
        ("S13-ssd", NOT_REPRODUCED, REPRODUCED),
        ("S2-4k", REPRODUCED, REPRODUCED),
    ],
)
def test_claims_on_durations_are_judged(timed, name, his, ours):
    assert (outcome(name, timed(HIS)), outcome(name, timed(OURS))) == (his, ours)


def test_runs_on_a_busy_machine_are_ignored(timed):
    claim, busy, quiet = CLAIMS["S4-hdd"], timed(HIS, late_us=9000), timed(OURS)
    assert claim.check({"sync-real": [busy, quiet]}).effect.middle == pytest.approx(17000 / 79)
    others = {"latency-ext4": [SimpleNamespace()]}  # without a control load
    verdict = claim.check({"sync-real": [busy, busy]} | others)
    assert verdict.outcome == NOT_TESTABLE
    assert "9.0 ms late" in verdict.why


def test_a_share_that_does_not_rise_with_every_device_refutes_the_claim(timed):
    same = calls({"hdd": 17000, "ssd": 550, "ram": 550}, {"hdd": 79, "ssd": 43, "ram": 40})
    assert outcome("S2-4k", timed(same)) == NOT_REPRODUCED


@pytest.mark.parametrize(("write", "found"), [(900, REPRODUCED), (600, NOT_REPRODUCED)])
def test_large_writes_claim(timed, write, found):
    assert outcome("S5-ram", timed({("ram-1m", "write"): write, ("ram-1m", "fsync"): 700})) == found


@pytest.mark.parametrize(("fsync", "found"), [(17080, REPRODUCED), (25000, NOT_REPRODUCED)])
def test_similar_sizes(timed, fsync, found):
    assert outcome("S7-hdd", timed({("hdd-8k", "fsync"): fsync, ("hdd-4k", "fsync"): 16990})) == found


def test_a_line_is_fitted_through_its_points():
    found = line([500, 2000, 8000], [552, 2052, 8052])
    assert (found.n, found.a_us) == (pytest.approx(1), pytest.approx(52))
    assert found.low == pytest.approx(found.high)
    bent = line([500, 2000, 8000], [552, 3052, 8052])
    assert bent.low < bent.n < bent.high
    with pytest.raises(ValueError, match="no interval"):
        line([1, 2], [1, 2])


LATENCIES = (500, 2000, 8000)


@pytest.mark.parametrize(("in_trace", "found"), [(5, REPRODUCED), (4, NOT_REPRODUCED)])
def test_the_slope_agrees_with_the_trace(timed, monkeypatch, in_trace, found):
    times = {(f"fsync-{disk}", "fsync"): 52 + 5 * each for disk, each in zip("abc", LATENCIES, strict=True)}
    monkeypatch.setattr(stephens_latency, "served", lambda sample, load, call: in_trace)
    run = timed(times, LATENCIES)
    verdict = CLAIMS["S4-series-fsync-ext4"].check({"latency-ext4": [run] * 3})
    assert (verdict.outcome, verdict.effect.middle) == (found, pytest.approx(5 - in_trace, abs=1e-6))
    assert "52 µs + 5.000 (95 %: 5.000 to 5.000)" in verdict.why


def test_rotations_of_his_disk(timed):
    def run(n):
        times = {(f"fsync-{disk}", "fsync"): 52 + n * each for disk, each in zip("abc", LATENCIES, strict=True)}
        return timed(times, LATENCIES)

    assert (outcome("S4-turns", run(5)), outcome("S4-turns", run(4))) == (REPRODUCED, NOT_REPRODUCED)
    assert (outcome("S6-turns", run(5)), outcome("S6-turns", run(4))) == (REPRODUCED, NOT_REPRODUCED)


def layered(*rows):
    """Return calls of loads: rows of load, states and sums by prefix, in ns."""
    return tuple(SimpleNamespace(load=load, states=states, prefixes=prefixes) for load, states, prefixes in rows)


def both(states, prefixes):
    return layered(*((f"hdd-{size}", states, prefixes) for size in ("4k", "1m")))


@pytest.mark.parametrize(
    ("name", "states", "prefixes", "found"),
    [
        ("S1-sums-ext4-hdd", {"device": 9, "cpu": 1}, {"FS": 9, "MM": 0, "block": 0}, REPRODUCED),
        ("S1-sums-ext4-hdd", {"device": 9, "cpu": 1}, {"FS": 4, "MM": 0, "block": 6}, NOT_REPRODUCED),
        ("S1-states-ext4-hdd", {"device": 5, "flush": 4, "cpu": 1}, {}, NOT_REPRODUCED),
        ("S1-states-ext4-hdd", {"device": 3, "behind": 4, "flush": 2, "cpu": 1}, {}, NOT_REPRODUCED),
        ("S1-states-ext4-hdd", {"device": 3, "journal": 6, "cpu": 1}, {}, REPRODUCED),
        ("S3-ext4-hdd", {"device": 98, "queue": 1, "held": 1}, {}, REPRODUCED),
        ("S3-ext4-hdd", {"device": 90, "queue": 5, "held": 5}, {}, NOT_REPRODUCED),
    ],
)
def test_both_ways_of_accounting_must_agree(monkeypatch, name, states, prefixes, found):
    monkeypatch.setattr("wblab.claims.sources.stephens.latency.layered", lambda sample: both(states, prefixes))
    assert outcome(name, SimpleNamespace()) == found


class Events(dict):
    """Events of one type: rows of task, time in ns and device."""

    def __init__(self, rows):
        self.pid, self.ts_ns, device = np.array(rows or np.zeros((0, 3)), np.int64).reshape(-1, 3).T
        super().__init__(dev=device)


class Trace:
    """Events by system:name."""

    def __init__(self, rows):
        self.formats = {key: SimpleNamespace(system=key.split(":")[0], name=key.split(":")[1]) for key in rows}
        self.names = tuple(item.name for item in self.formats.values())
        self._rows = {key.split(":")[1]: found for key, found in rows.items()}

    def events(self, key):
        return Events(self._rows.get(key.rpartition(":")[2]))


@pytest.fixture
def traced(monkeypatch):
    """Return a function that makes a sample of events, {system:name: rows}, with a RAM disk as device 1:0."""

    def page_cache(run):
        return SimpleNamespace(trace=run.trace, events=run.trace.events, counts={"any": run.kept})

    def make(rows=None, loads=None, failure="", kept=0):
        items = {
            name: SimpleNamespace(name=name, pid=pid, boundaries_ns=np.array([begin, end]))
            for name, (pid, begin, end) in (loads or {}).items()
        }
        disks = {"ram": SimpleNamespace(device="1:0")}
        items["c1"] = late(100)("c1")
        run = SimpleNamespace(trace=Trace(rows or {}), load=items.get, disks=disks, failure=failure, kept=kept)
        return SimpleNamespace(run=run)

    for module in (stephens_events, pagecache):
        monkeypatch.setattr(module, "page_cache", page_cache)
    return make


RAM = 1 << 20


def test_a_device_without_a_queue(traced):
    bio, request = (7, 10, RAM), (7, 11, RAM)
    assert outcome("S8-ram", traced({"block:block_bio_submit": [bio]})) == REPRODUCED
    queued = {"block:block_bio_submit": [bio], "block:block_rq_insert": [], "block:block_rq_issue": [request]}
    assert outcome("S8-ram", traced(queued)) == NOT_REPRODUCED
    with pytest.raises(ValueError, match="ram got no bios"):
        outcome("S8-ram", traced({"block:block_bio_submit": [(7, 10, 5)]}))


def shares(**own):
    """Return loads, and ext4 events of which so many in ten are the load's own."""
    rows = [
        (place if row < count else 99, 1000 * place + row, 0)
        for place, count in enumerate(own.values(), 1)
        for row in range(10)
    ]
    loads = {name.replace("_", "-"): (place, 1000 * place, 1000 * place + 100) for place, name in enumerate(own, 1)}
    return {"ext4:ext4_sync_file_enter": rows, "sched:sched_switch": [(99, 1000, 0)] * 50}, loads


@pytest.mark.parametrize(("ssd", "found"), [(4, REPRODUCED), (9, NOT_REPRODUCED)])
def test_interference_by_device_claim(traced, ssd, found):
    rows, spans = shares(hdd_4k=1, ssd_4k=ssd, ram_4k=8)
    assert outcome("S10-device-fs", traced(rows, spans)) == found


@pytest.mark.parametrize(("large", "found"), [(6, REPRODUCED), (4, NOT_REPRODUCED)])
def test_interference_by_size_claim(traced, large, found):
    rows, spans = shares(ssd_4k=5, ssd_1m=large)
    assert outcome("S10-size-fs", traced(rows, spans)) == found


def lost(traced, count, kept):
    failure = f"the trace lost {count} events: raise trace.buffer or trace fewer events" if count else ""
    return traced(failure=failure, kept=kept)


def test_claims_on_lost_events_are_judged(traced):
    assert outcome("S9-lost", lost(traced, 40, 60)) == REPRODUCED
    assert outcome("S9-lost", lost(traced, 80, 20)) == NOT_REPRODUCED
    assert outcome("S9-filter", lost(traced, 0, 20)) == REPRODUCED
    assert outcome("S9-filter", lost(traced, 1, 20)) == NOT_REPRODUCED
    assert outcome("S9-size", lost(traced, 40, 60), lost(traced, 45, 55)) == REPRODUCED
    assert outcome("S9-size", lost(traced, 2, 98), lost(traced, 45, 55)) == NOT_REPRODUCED
    assert pagecache.events_lost(traced(failure="the kernel panicked").run) == 0


@pytest.mark.parametrize(("below_us", "found"), [(4, REPRODUCED), (6, NOT_REPRODUCED)])
def test_a_direct_write_is_compared_with_its_bio(traced, monkeypatch, below_us, found):
    starts = [100_000, 200_000]
    rows = {
        "block:block_bio_queue": [(7, at, RAM) for at in starts],
        "block:block_bio_complete": [(7, at + below_us * US, RAM) for at in starts],
    }
    monkeypatch.setattr(stephens_events, "durations", lambda run: {("ram-direct", "write"): np.array([10 * US] * 2)})
    assert outcome("S14-direct", traced(rows, {"ram-direct": (7, 0, MS)})) == found
    del rows["block:block_bio_complete"][1]
    with pytest.raises(ValueError, match="2 bios; 1 completed"):
        outcome("S14-direct", traced(rows, {"ram-direct": (7, 0, MS)}))
