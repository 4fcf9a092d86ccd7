"""Li's claims on what processors share, and the program that measures it."""

import json
import os
from threading import BrokenBarrierError
from types import SimpleNamespace

import numpy as np
import pytest

from wblab.analysis.runs.blocks import Submitted
from wblab.analysis.statistics.decision import NOT_REPRODUCED, REPRODUCED
from wblab.claims.sources.li import processors
from wblab.claims.sources.li.claims import li_claims
from wblab.claims.sources.li.programs import readers
from wblab.core.layout import LEFT

CLAIMS = {claim.name: claim for claim in li_claims()}
PIDS = {"r-first": 10, "r-third": 11}
RESYNC = 20


@pytest.fixture
def locked(monkeypatch):
    """Return what makes a sample: resync_lock as it is taken, (task, time), and bios, (task, disk, time)."""

    def make(taken, bios=()):
        events = np.array(taken, [("pid", np.int64), ("ts_ns", np.int64)]).view(np.recarray)
        names, disks, times = ([bio[place] for bio in bios] for place in range(3))
        zeros = np.zeros(len(bios), np.int64)
        found = Submitted(
            np.array(times, np.int64), np.array(names, object), np.array(disks, object), zeros, zeros, zeros > 0
        )
        monkeypatch.setattr(processors, "page_cache", lambda run: SimpleNamespace(events={"lock_acquire": events}.get))
        monkeypatch.setattr(processors, "submitted", lambda cache, event: found)
        return SimpleNamespace(run=SimpleNamespace(zero_ns=100, load=lambda name: SimpleNamespace(pid=PIDS[name])))

    return make


@pytest.mark.parametrize(("by", "outcome"), [(RESYNC, REPRODUCED), (11, NOT_REPRODUCED)])
def test_locks_that_readers_take_are_counted(locked, by, outcome):
    sample = locked([(RESYNC, 1), (by, 2), (by, 3)])
    verdict = CLAIMS["L1-no-lock"].check({"mirror-locks": [sample] * 6})
    assert verdict.outcome == outcome
    assert verdict.effect.middle == (2 if by == 11 else 0)


def test_a_kernel_on_which_nobody_takes_the_lock_shows_nothing(locked):
    with pytest.raises(ValueError, match="nobody took the lock, not even the resync"):
        processors.by_readers(locked([]))


@pytest.mark.parametrize(("times", "outcome"), [(2, REPRODUCED), (1, NOT_REPRODUCED)])
def test_locks_are_counted_for_each_request_before_a_resync(locked, times, outcome):
    bios = [
        *[("r1", "mirror", time) for time in (50, 110, 120, 130, 400)],
        *[("r1", "a", time) for time in (110, 120)],
        *[("md0_resync", "a", time) for time in (300, 310)],
    ]
    taken = [(10, time) for time in (50, 110, 120, 130, 305, 400) for _ in range(times)]
    sample = locked(taken, bios)
    assert processors.for_each_request(sample) == times
    assert CLAIMS["L2-old-lock"].check({"mirror-old-locks": [sample] * 3}).outcome == outcome


@pytest.fixture
def measured(tmp_path):
    """Return what makes runs of the program in which it wrote these numbers."""

    def make(cores=2, **numbers):
        path = tmp_path / str(len(list(tmp_path.iterdir())))
        (path / LEFT).mkdir(parents=True)
        (path / LEFT / readers.RESULT).write_text(json.dumps(numbers))
        return [SimpleNamespace(run=SimpleNamespace(path=path, record={"host": {"cores": cores}}))] * 5

    return make


def test_the_old_lock_is_compared_with_the_new(measured):
    old, new = measured(alone=104, together=170), measured(alone=100, together=100)
    names = ("L3-uncontended", "L4-contended")
    one, parallel = (CLAIMS[name].check({"readers-old": old, "readers": new}) for name in names)
    assert one.outcome == parallel.outcome == REPRODUCED
    assert parallel.effect.middle == pytest.approx(1.7)
    assert parallel.why.endswith("Only that lock is as it was then. On 2 processors, threads of a host with 2")


@pytest.mark.parametrize(("together_traced", "outcome"), [(240, NOT_REPRODUCED), (360, REPRODUCED)])
def test_tracing_is_compared_between_one_processor_and_several(measured, together_traced, outcome):
    runs = measured(alone=100, alone_traced=120, together=200, together_traced=together_traced, own=1)
    verdict = CLAIMS["L21-trace"].check({"readers": runs})
    assert verdict.outcome == outcome
    assert "in its own buffer" in verdict.why


def test_a_buffer_that_is_not_each_processor_s_own_ends_the_claim(measured):
    (sample, *_) = measured(alone=100, alone_traced=120, together=200, together_traced=240, own=0.25)
    with pytest.raises(ValueError, match=r"^only 25% of a processor's events are in its own buffer$"):
        processors.traced_together(sample)


def test_threads_read_each_their_own_part(tmp_path, monkeypatch):
    data, found = os.urandom(8 << 20), []
    (tmp_path / "device").write_bytes(data)
    fd, preadv = os.open(tmp_path / "device", os.O_RDONLY), os.preadv
    monkeypatch.setattr(os, "preadv", lambda *call: found.append((preadv(*call), call[2] >> 20)))
    here = sorted(os.sched_getaffinity(0))[:1]
    assert readers.read(fd, here * 2, 4) > 0
    assert sorted(found) == [(1 << 20, place) for place in range(4)]  # two of four parts
    assert sorted(os.sched_getaffinity(0))[:1] == here


def test_a_thread_that_fails_ends_all(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "_LONGEST_S", 0.2)
    (tmp_path / "device").write_bytes(bytes(8 << 20))
    fd = os.open(tmp_path / "device", os.O_RDONLY)
    here = min(os.sched_getaffinity(0))
    with pytest.raises((OSError, BrokenBarrierError)):
        readers.read(fd, [here, 9999], 2)


def test_events_are_counted_by_the_processor_s_buffer(tmp_path):
    for processor, numbers in enumerate([(3, 4), (0, 1)]):
        stats = tmp_path / f"per_cpu/cpu{processor}/stats"
        stats.parent.mkdir(parents=True)
        stats.write_text("entries: {}\noverrun: {}\ncommit overrun: 9\nbytes: 77\n".format(*numbers))
    instance = readers.Instance(tmp_path)
    assert [instance.recorded(name) for name in ("0", "1", "*")] == [7, 1, 8]
