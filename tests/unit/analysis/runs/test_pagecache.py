"""The page cache of a run, read from traces of kernels with different field names."""

import json
import struct
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.panes import in_order
from support.runs import MS, write_run_of
from support.tracewriter import Ring, TraceWriter, event_format

from wblab.analysis.runs.metrics import metrics_frame
from wblab.analysis.runs.names import unplug_s
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import Window, pause_report
from wblab.analysis.runs.rates import written_rates
from wblab.analysis.runs.run import read_run
from wblab.api.recorded import Trace
from wblab.core.errors import InputError
from wblab.core.rundir import DISKS, TRACE
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.plot.cachepanes import cache_panes

S = 1000 * MS
STATE, BALANCE = 700, 701
LOADS = {"c1": [S, 2 * S], "mw1": [S, S + 100 * MS, 3 * S], "l1": [S, 7 * S, 8 * S]}


def lines(*names, signed=0):
    return "\n".join(f"unsigned long {name} {8 + 8 * i} 8 {signed}" for i, name in enumerate(names))


STATE_FIELDS = ("nr_dirty", "nr_writeback", "background_thresh", "dirty_thresh", "dirty_limit")
OLD_STATE_FIELDS = ("nr_dirty", "nr_writeback", "nr_unstable", "background_thresh", "dirty_thresh", "dirty_limit")
BALANCE_FIELDS = (
    "limit",
    "setpoint",
    "dirty",
    "wb_setpoint",
    "wb_dirty",
    "dirty_ratelimit",
    "task_ratelimit",
    "paused",
    "pause",
)
OLD_BALANCE_FIELDS = tuple(name.replace("wb_", "bdi_") for name in BALANCE_FIELDS)


def trace(states, balances, state_fields=STATE_FIELDS, balance_fields=BALANCE_FIELDS, formats=None):
    """Return a trace with one event for each state (time in ns, values) and each decision (time, pid, values)."""
    ring = Ring()
    found = [(time, ring.record(STATE, 9, struct.pack(f"<{len(values)}Q", *values))) for time, values in states]
    found += [
        (time, ring.record(BALANCE, pid, struct.pack(f"<{len(values)}q", *values))) for time, pid, values in balances
    ]
    found.sort(key=lambda item: item[0])
    entries, before = [], S
    for time, record in found:
        entries.append(ring.extend(time - before) + ring.data(0, record))
        before = time
    known = {
        "writeback": [
            event_format("global_dirty_state", STATE, lines(*state_fields)),
            event_format("balance_dirty_pages", BALANCE, lines(*balance_fields, signed=1)),
        ]
    }
    pages = [ring.page(S, entries)]
    return TraceWriter(
        ring, formats=formats or known, cmdlines="9 kworker\n7 forgotten\n", buffers={"": [pages]}
    ).encode()


@pytest.fixture
def cache(make_run):
    """Return a function that makes the page cache of a run in which all loads have pid 7."""

    def make(content):
        path = make_run(LOADS)
        (path / TRACE).write_bytes(content)
        return page_cache(read_run(path))

    return make


def test_state_is_in_bytes(cache):
    state = cache(trace([(2 * S, (3, 2, 10, 20, 27))], [])).dirty_state
    assert state.ts_ns.tolist() == [2 * S]
    values = [state.dirty, state.writeback, state.background, state.threshold, state.limit]
    assert [column.tolist() for column in values] == [[4096 * pages] for pages in (3, 2, 10, 20, 27)]


def test_unstable_pages_of_old_kernels_are_dirty(cache):
    state = cache(trace([(2 * S, (3, 2, 5, 10, 20, 27))], [], OLD_STATE_FIELDS)).dirty_state
    assert state.dirty.tolist() == [8 * 4096]
    assert state.limit.tolist() == [27 * 4096]


@pytest.mark.parametrize("fields", [BALANCE_FIELDS, OLD_BALANCE_FIELDS])
def test_decisions_are_in_ns_and_bytes_per_second(cache, fields):
    made = cache(trace([], [(2 * S, 7, (27, 21, 26, 20, 25, 1000, 500, 140, -10))], balance_fields=fields))
    rows = made.throttling
    assert (rows.pause_ns.tolist(), rows.paused_ns.tolist()) == ([-10 * MS], [140 * MS])
    assert (rows.task_rate.tolist(), rows.base_rate.tolist()) == ([500 * 1024], [1000 * 1024])
    assert (rows.wb_setpoint.tolist(), rows.wb_dirty.tolist()) == ([20 * 4096], [25 * 4096])
    assert (rows.limit.tolist(), rows.setpoint.tolist(), rows.dirty.tolist()) == ([27 * 4096], [21 * 4096], [26 * 4096])


def test_a_load_has_its_name_even_if_the_trace_lost_it(cache):
    made = cache(trace([], [(2 * S, pid, (27, 21, 26, 20, 26, 1000, 500, 0, 0)) for pid in (7, 9, 11)]))
    assert made.throttling.task.tolist() == ["l1", "kworker", "<...>"]


def test_events_that_were_not_traced_give_nothing(cache):
    made = cache(trace([], [], formats={"writeback": [event_format("other", 1, lines("x"))]}))
    assert len(made.dirty_state) == len(made.throttling) == 0
    assert made.times_ns("global_dirty_state").tolist() == []
    assert made.counts == {}


def test_a_missing_field_is_named(cache):
    made = cache(trace([(2 * S, (1, 2, 3, 4, 5))], [], ("nr_dirty", "nr_writeback", "a", "b", "c")))
    with pytest.raises(InputError, match="'global_dirty_state' of this kernel has no 'background_thresh'"):
        _ = made.dirty_state


def test_columns_are_cut_with_one_extra_row_on_each_side(cache):
    states = [(S + i * 100 * MS, (i, 0, 10, 20, 27)) for i in range(1, 11)]
    state = cache(trace(states, [])).dirty_state
    cut = state.within(S + 350 * MS, S + 650 * MS)
    assert (cut.dirty // 4096).tolist() == [3, 4, 5, 6, 7]
    assert (state.within(0, 10 * S).dirty // 4096).tolist() == list(range(1, 11))
    assert (state.where(state.dirty > 8 * 4096).dirty // 4096).tolist() == [9, 10]


def test_a_missing_trace_is_reported_with_a_hint(make_run):
    run = read_run(make_run(LOADS))
    with pytest.raises(InputError, match="it was lost, or the run failed before it"):
        page_cache(run)


@pytest.mark.parametrize("content", [b"", b"no trace", trace([(2 * S, (1, 2, 3, 4, 5))], [])[:-200]])
def test_a_damaged_trace_is_an_input_error(cache, content):
    with pytest.raises(InputError, match=r"trace\.dat"):
        cache(content)


def test_events_as_a_table(cache):
    states = [(S + i * MS, (i, 0, 10, 20, 27)) for i in range(1, 6)]
    made = cache(trace(states, [(S + 2 * MS, 7, (27, 21, 26, 20, 26, 1000, 0, 0, 60))]))
    table = Trace.of(SimpleNamespace(zero_ns=S), made).between(0.002, 0.004, most=3)
    assert table["at_s"].tolist() == pytest.approx([0.002, 0.002, 0.003])
    assert table["event"].tolist() == ["global_dirty_state", "balance_dirty_pages", "global_dirty_state"]
    assert table["fields"][0] == "nr_dirty=2 nr_writeback=0 background_thresh=10 dirty_thresh=20 dirty_limit=27"
    assert table.attrs["left_out"] == 1


def test_decisions_as_a_table(cache):
    made = cache(trace([], [(2 * S, 7, (512, 21, 256, 20, 26, 1000, 0, 70, 60))]))
    table = Trace.of(SimpleNamespace(zero_ns=S), made).decisions
    assert table.iloc[0].tolist() == [1.0, "l1", "", 0.06, 0.07, 1 << 20, 2 << 20, 0, 1000 << 10]


TWO = {"slow": {"device": "98:0", "written_ns": 12 * S}, "fast": {"device": "98:16", "written_ns": 9 * S}}
DECISION = "char bdi[32] 8 32 0\n" + "\n".join(f"long {name} {40 + 8 * i} 8 1" for i, name in enumerate(BALANCE_FIELDS))
FOLIO = "char name[32] 8 32 0\nunsigned long ino 40 8 0\nunsigned long index 48 8 0"
REQUEST = "u32 dev 8 4 0\nu32 nr_sector 12 4 0\nchar rwbs[8] 16 8 0"


@pytest.fixture
def two_disks(tmp_path, request):
    """Return the run with two disks and, for each disk, one decision and two requests, by default of 8 sectors."""
    sectors = getattr(request, "param", 8)
    base = read_spec(SPECS.find("base"))
    loads = {name: replace(load, disk="fast" if name == "mw1" else "") for name, load in base.load.items()}
    disk = base.disk["disk"]
    spec = replace(base, disk={"slow": disk, "fast": disk}, load={name: loads[name] for name in LOADS})
    path = write_run_of(spec, tmp_path / "run", LOADS)
    (path / DISKS).write_text(json.dumps(TWO))
    ring, entries = Ring(), []
    values = (27, 21, 26, 20, 25, 1000, 500, 140, -10)
    for minor in (0, 16):
        bdi = f"98:{minor}".encode()
        entries.append(ring.record(BALANCE, 7, struct.pack(f"<32s{len(values)}q", bdi, *values)))
        entries.append(ring.record(703, 8, struct.pack("<32sQQ", bdi, 12, 256)))
        for flags in (b"WS", b"RA"):
            entries.append(ring.record(702, 7, struct.pack("<II8s", 98 << 20 | minor, sectors, flags)))
    formats = {
        "writeback": [
            event_format("balance_dirty_pages", BALANCE, DECISION),
            event_format("writeback_dirty_page", 703, FOLIO),  # its name until 5.17
        ],
        "block": [event_format("block_rq_complete", 702, REQUEST)],
    }
    page = ring.page(S, [ring.extend(S // 2) + ring.data(0, entry) for entry in entries])
    (path / TRACE).write_bytes(
        TraceWriter(ring, formats=formats, cmdlines="8 sqlite3\n", buffers={"": [[page]]}).encode()
    )
    return read_run(path)


def test_decisions_and_writes_are_assigned_to_disks(two_disks):
    cache = page_cache(two_disks)
    assert cache.disks == {"98:0": "slow", "98:16": "fast"}
    assert cache.throttling.disk.tolist() == ["slow", "fast"]
    assert (cache.written.disk.tolist(), cache.written.size.tolist()) == (["slow", "fast"], [4096, 4096])
    assert (cache.dirtied.task.tolist(), cache.dirtied.disk.tolist()) == (["sqlite3"] * 2, ["slow", "fast"])
    assert [item.load.disk for item in two_disks.loads] == ["slow", "fast", "slow"]


def test_each_disk_has_its_own_write_rate(two_disks):
    rates = written_rates(page_cache(two_disks), Window(0, 10 * S))
    assert {disk: float(per_s.sum()) * rates.bin_ns / S for disk, per_s in rates.per_s.items()} == {
        "slow": 4096, "fast": 4096,
    }  # fmt: skip
    panes = {pane.name: pane for pane in cache_panes(page_cache(two_disks), Window(0, 10 * S), {"l1": "grey"})}
    late = ["throttling", "rate limits: slow", "rate limits: fast", "disks", "written"]
    assert in_order(["events", *late], panes)  # whatever panes there are besides
    within = {pane.name for pane in cache_panes(page_cache(two_disks), Window(0, S), {"l1": "grey"})}
    assert "events" in within
    assert not within.intersection(late)  # all these events come later
    assert panes["disks"].explained == panes["written"].explained == ["slow", "fast"]


@pytest.mark.parametrize("two_disks", [0], indirect=True)
def test_empty_writes_give_no_rates(two_disks):
    panes = [pane.name for pane in cache_panes(page_cache(two_disks), Window(0, 10 * S), {"l1": "grey"})]
    assert in_order(["rate limits: fast", "disks"], panes)
    assert "written" not in panes


def test_the_time_until_a_disk_can_be_unplugged_is_measured(two_disks):
    assert unplug_s(two_disks) == {"l1": 4.0}
    table = metrics_frame(two_disks)
    assert table[table["metric"] == "unplug_s"][["load", "value"]].values.tolist() == [["l1", 4.0]]
    assert pause_report(two_disks).unplug_s == {"l1": 4.0}


@pytest.mark.parametrize(
    "disks",
    [
        {"other": TWO["slow"]},
        {"slow": TWO["slow"] | {"device": "98:0\x1b"}},
        {"slow": TWO["slow"] | {"written_ns": -1}},
        {"slow": TWO["slow"] | {"written_ns": 1.5}},
        {"slow": 5},
        {"slow": {"device": "98:0"}},
    ],
)
def test_damaged_disks_are_refused(two_disks, disks):
    (two_disks.path / DISKS).write_text(json.dumps(disks))
    with pytest.raises(InputError, match=r"disks\.json is damaged"):
        read_run(two_disks.path)


def test_without_disk_records_the_unplug_time_is_unknown(two_disks):
    (two_disks.path / DISKS).unlink()
    assert unplug_s(read_run(two_disks.path)) == {}
    assert page_cache(read_run(two_disks.path)).disks == {}
