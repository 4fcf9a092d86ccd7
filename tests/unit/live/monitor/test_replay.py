import json
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from support import pictured

from wblab.analysis.runs.pagecache import Written
from wblab.analysis.runs.run import read_run
from wblab.core import layout
from wblab.core.errors import InputError
from wblab.core.rundir import DiskRecord
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.live.monitor.replay import GRAIN_NS, TICK_NS, replay, watched
from wblab.live.monitor.samples import Batch, CacheState, End, SampleSource, Throttled, Waited

MS = 10**6
S = 1000 * MS
MIB = 1 << 20


@pytest.fixture
def replayed(make_run):
    run = read_run(make_run(pictured.BOUNDARIES))
    cache = SimpleNamespace(dirty_state=pictured.dirty_state(1000), throttling=pictured.throttling())
    return list(replay(run, cache)), cache


def batches(items):
    return [item for item in items if isinstance(item, Batch)]


def all_of(items, key):
    return [row for batch in batches(items) for row in getattr(batch, key)]


def test_a_replay_has_its_source_first_and_an_end(replayed):
    items, _ = replayed
    assert items[0] == SampleSource("run 2026-01-01_00-00-00_base", 0, "")
    assert items[-1] == End("the run is over")
    times = [batch.now_ns for batch in batches(items)]
    assert {later - sooner for sooner, later in pairwise(times)} == {TICK_NS}
    assert times[0] <= 0
    assert times[-1] >= 8 * S


def test_all_states_are_replayed_except_those_close_together(replayed):
    items, cache = replayed
    states, events = all_of(items, "states"), cache.dirty_state
    assert len({state.at_ns // GRAIN_NS for state in states}) == len(states) == 8 * S // GRAIN_NS
    last = len(events) - 1
    assert states[-1] == CacheState(
        int(events.ts_ns[last]),
        dirty=int(events.dirty[last]),
        writeback=int(events.writeback[last]),
        background=10 * MIB,
        threshold=20 * MIB,
        limit=22 * MIB,
    )
    for batch in batches(items):
        assert all(batch.now_ns - TICK_NS < state.at_ns <= batch.now_ns for state in batch.states)


def test_throttled_tasks_are_replayed(replayed):
    items, _ = replayed
    asked = all_of(items, "throttled")
    assert len(asked) == 50
    assert asked[0] == Throttled(80 * MS, "l1", 200 * MS)


def test_a_pause_is_replayed_while_it_lasts_and_once_at_its_end(replayed):
    items, _ = replayed
    waits = [wait for wait in all_of(items, "waits") if wait.start_ns == 200 * MS]
    assert [wait.over for wait in waits] == [False] * 14 + [True]
    assert [wait.at_ns for wait in waits[:2]] == [200 * MS, 300 * MS]
    assert waits[-1] == Waited("mw1", 200 * MS, 1600 * MS, over=True)
    assert {wait.name for wait in all_of(items, "waits")} <= {"w1", "mw1"}
    over = [(wait.name, wait.start_ns) for wait in all_of(items, "waits") if wait.over]
    assert len(over) == len(set(over)) == 5


def test_writes_of_loads_come_from_their_cycles(replayed):
    items, _ = replayed
    written = {}
    for row in all_of(items, "writers"):
        written[row.task] = written.get(row.task, 0) + row.written
    assert written["mw1"] == 4
    assert set(written) == {"w1", "mw1", "l1"}


def test_with_several_disks_writers_and_throttled_tasks_have_a_disk(make_run):
    run = read_run(make_run(pictured.BOUNDARIES))
    run = replace(run, loads=tuple(replace(item, load=replace(item.load, disk="slow")) for item in run.loads))
    asked = replace(pictured.throttling(), disk=np.full(100, "slow", object))
    items = list(replay(run, SimpleNamespace(dirty_state=pictured.dirty_state(), throttling=asked)))
    assert (
        {row.disk for row in all_of(items, "writers")} == {row.disk for row in all_of(items, "throttled")} == {"slow"}
    )


def test_without_a_trace_only_loads_are_replayed(make_run):
    items = list(replay(read_run(make_run({"mw1": [0, 100 * MS, 900 * MS]})), None))
    assert "no readable trace" in items[0].untraced
    assert all_of(items, "states") == []
    assert all_of(items, "waits")[-1] == Waited("mw1", 100 * MS, 800 * MS, over=True)


def test_with_several_disks_each_has_its_writes(make_run):
    disks = {"slow": DiskRecord("98:0", 0), "fast": DiskRecord("98:16", 0)}
    run = replace(read_run(make_run(pictured.BOUNDARIES)), disks=disks)
    times_ns = np.arange(100, 8000, 100) * MS
    names = np.where(np.arange(len(times_ns)) % 4 == 0, "slow", "fast").astype(object)
    cache = SimpleNamespace(
        dirty_state=pictured.dirty_state(1000),
        throttling=pictured.throttling(),
        written=Written(times_ns, np.full(len(times_ns), MIB), names),
    )
    rows = all_of(list(replay(run, cache)), "disks")
    assert {row.disk: row.busy_ns for row in rows} == {"slow": None, "fast": None}
    total = {disk: sum(row.written for row in rows if row.disk == disk) for disk in ("slow", "fast")}
    assert total["fast"] == pytest.approx(3 * total["slow"], rel=0.1)


def test_a_sampler_is_added_to_the_guest():
    spec = read_spec(PRESETS / "base.toml", ["agent.other.argv=['true']"])
    seen = watched(spec)
    assert set(seen.agent) == {"other", "sampler"}
    assert str(layout.SAMPLES_DEVICE) in seen.agent["sampler"].argv[-1]
    assert (seen.load, seen.disk, seen.agent["other"]) == (spec.load, spec.disk, spec.agent["other"])


def asked(preset, *settings):
    spec = watched(read_spec(PRESETS / f"{preset}.toml", list(settings)))
    return json.loads(spec.agent["sampler"].argv[-1])


def probed(preset, *settings):
    return asked(preset, *settings)["probe"]


def test_the_probe_writes_to_the_first_disk_with_a_filesystem():
    assert probed("base") == "/mnt/disk"
    assert probed("two-disks") == "/mnt/slow"
    other = "disk.other={size='16MiB', model='throttle', write_bps='1MiB/s'}"
    assert probed("linear", other) == probed("mirror", other) == "/mnt/other"


def test_a_guest_without_any_filesystem_is_not_watched():
    with pytest.raises(InputError, match="no disk of linear has a filesystem"):
        probed("linear")


def test_several_disks_have_their_spec_names_and_a_single_disk_none():
    assert asked("two-disks")["called"] == {"ubda": "slow", "ubdb": "fast"}
    assert asked("mirror", "disk.mirror.filesystem='ext4'")["called"] == {"ubda": "a", "ubdb": "b"}
    assert asked("base")["called"] == {"ubda": ""}
