"""Traces are read back with the protobuf classes and checked for what a viewer needs."""

import itertools
import shutil
import struct
from collections import defaultdict
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tracecmd
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import CounterDescriptor, Trace, TrackEvent
from support.tracewriter import Ring, TraceWriter, event_format
from tracecmd.formats import parse_format

from wblab.analysis.runs.pagecache import PageCache
from wblab.analysis.runs.perfetto import MOST_EVENTS, chosen_events, export
from wblab.analysis.runs.run import read_run
from wblab.cli import main
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_MS as MS

BOUND = 300 * MS
PAGE = 4096
C1 = [1000 * MS, 1050 * MS, 1500 * MS]  # stalls for 400 ms
MW1 = [1000 * MS, 1100 * MS, 2480 * MS, 2580 * MS, 2620 * MS]  # paused for 1.28 s; ended in its last sleep
# Waits 5 s and pauses at once; then short cycles, a pause, and a short cycle.
L1 = [1000 * MS, 6500 * MS, 6501 * MS, 6501 * MS, 6700 * MS, 8000 * MS, 8001 * MS]
NAMES = {0: "<idle>", 1: "python3", 30: "kworker/0:1"}


@dataclass
class Seen:
    """A track as a viewer sees it."""

    name: str
    path: str
    descriptor: Any
    slices: list = field(default_factory=list)  # (depth, start, end, name, category, arguments) as they end
    instants: list = field(default_factory=list)
    counters: list = field(default_factory=list)


@dataclass
class Viewed:
    tracks: dict[str, Seen]
    facts: dict[str, Any]
    events: int


def value(annotation):
    kind = annotation.WhichOneof("value")
    return getattr(annotation, kind) if kind else [value(item) for item in annotation.array_values]


def view(data):
    """Read a trace as a viewer does, and check the requirements of the format."""
    trace = Trace.FromString(data)
    assert len({packet.trusted_packet_sequence_id for packet in trace.packet}) == 1
    first = trace.packet[0]
    assert first.first_packet_on_sequence
    assert [packet.sequence_flags for packet in trace.packet] == [3] + [2] * (len(trace.packet) - 1)
    facts = {item.key: getattr(item, item.WhichOneof("value")) for item in first.trace_attributes.attribute}
    names = {kind: {} for kind in ("event_names", "event_categories", "debug_annotation_names")}
    tracks, stacks, last_ns, events = {}, defaultdict(list), defaultdict(int), 0
    for packet in trace.packet:
        for kind, known in names.items():
            for item in getattr(packet.interned_data, kind):
                assert item.iid not in known
                assert item.iid > 0
                known[item.iid] = item.name
        if packet.HasField("track_descriptor"):
            described = packet.track_descriptor
            assert described.uuid
            assert described.uuid not in tracks
            assert not described.parent_uuid or described.parent_uuid in tracks
            above = f"{tracks[described.parent_uuid].path}/" if described.parent_uuid else ""
            tracks[described.uuid] = Seen(described.name, above + described.name, described)
        if not packet.HasField("track_event"):
            continue
        event, time_ns, events = packet.track_event, packet.timestamp, events + 1
        track, stack = tracks[event.track_uuid], stacks[event.track_uuid]  # described before
        assert time_ns >= last_ns[event.track_uuid]
        last_ns[event.track_uuid] = time_ns
        assert track.descriptor.HasField("counter") == (event.type == TrackEvent.TYPE_COUNTER)
        named = ()
        if event.type in (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_INSTANT):
            arguments = {names["debug_annotation_names"][a.name_iid]: value(a) for a in event.debug_annotations}
            (category,) = event.category_iids
            named = (names["event_names"][event.name_iid], names["event_categories"][category], arguments)
        if event.type == TrackEvent.TYPE_COUNTER:
            track.counters.append((time_ns, event.counter_value))
        elif event.type == TrackEvent.TYPE_INSTANT:
            track.instants.append((time_ns, *named))
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack.append((time_ns, *named))
        else:
            assert event.type == TrackEvent.TYPE_SLICE_END
            start_ns, *what = stack.pop()
            track.slices.append((len(stack), start_ns, time_ns, *what))
    assert not any(stacks.values())
    paths = [track.path for track in tracks.values()]
    assert len(set(paths)) == len(paths)  # a viewer would merge them
    ranks = [track.descriptor.sibling_order_rank for track in tracks.values()]
    assert ranks == sorted(ranks)
    short = {track.path.partition(": ")[2].partition("/")[2] or track.path: track for track in tracks.values()}
    return Viewed(short, facts, events)


def events_of(system, name, rows, print_format="", signed=True):
    """Return events like those of the trace reader: rows of times, pids, and values of columns of 8 bytes."""
    own = sorted({key for _, _, values in rows for key in values})
    form = (
        f"name: {name}\nID: 1\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
        + "".join(
            f"\tfield:long {key};\toffset:{8 + 8 * i};\tsize:8;\tsigned:{int(signed)};\n" for i, key in enumerate(own)
        )
        + f"\nprint fmt: {print_format}\n"
    )
    type_ = np.dtype([("type", "<i4"), ("pid", "<i4"), *((key, "<i8" if signed else "<u8") for key in own)])
    records = np.array([(1, pid, *(values[key] for key in own)) for _, pid, values in rows], type_)
    return tracecmd.Events(
        parse_format(system, form, 8),
        np.frombuffer(records.tobytes(), np.uint8),
        "<",
        np.arange(len(rows)) * (type_.itemsize // 4),
        np.full(len(rows), type_.itemsize, np.int32),
        np.array([time_ns for time_ns, _, _ in rows], np.int64),
        np.zeros(len(rows), np.int32),
        lambda pids: np.array([NAMES.get(pid, "<...>") for pid in pids.tolist()], object),
    )


def page_cache(*all_events, lost=()):
    by_name = {events.name: events for events in all_events}
    trace = SimpleNamespace(
        counts=lambda: {name: len(events) for name, events in by_name.items()},
        events=by_name.__getitem__,
        formats={f"{events.format.system}:{name}": events.format for name, events in by_name.items()},
        info=SimpleNamespace(page_bytes=PAGE),
        lost=tuple(lost),
    )
    return PageCache(trace, {7: "mw1", 8: "l1"})


def dirty_state(rows):
    keys = ("background_thresh", "dirty_thresh", "dirty_limit", "nr_dirty", "nr_writeback")
    return events_of(
        "writeback", "global_dirty_state", [(at, 7, dict(zip(keys, row, strict=True))) for at, row in rows]
    )


def throttling(rows):
    fixed = {"paused": 10, "dirty_ratelimit": 100, "limit": 50, "setpoint": 40, "dirty": 45}
    fixed |= {"wb_setpoint": 39, "wb_dirty": 44}
    all_rows = [(at, pid, fixed | {"pause": pause, "task_ratelimit": rate}) for at, pid, pause, rate in rows]
    return events_of("writeback", "balance_dirty_pages", all_rows)


@pytest.fixture
def run(make_run):
    return read_run(make_run({"c1": C1, "mw1": MW1, "l1": L1}))


def loads(run, bound_ns=BOUND):
    return view(export(run, None, bound_ns)).tracks


def with_cache(run, *all_events, lost=(), **options):
    return view(export(run, page_cache(*all_events, lost=lost), BOUND, **options))


def test_the_run_is_named(run):
    seen = view(export(run, None, BOUND))
    (root,) = [track for track in seen.tracks.values() if not track.descriptor.parent_uuid]
    assert root.name == "2026-01-01_00-00-00_base: Linux 7.3.0, virtual clock, seed 1"
    said = {"run": "2026-01-01_00-00-00_base", "experiment": "base", "kernel": "7.3.0", "seed": 1, "clock": "virtual"}
    assert said.items() <= seen.facts.items()
    assert (seen.facts["loads_started_ns"], seen.facts["outcome"]) == (1000 * MS, "succeeded")


def test_loads_are_tracks_in_the_spec_s_order(run):
    assert [name for name in loads(run) if name.startswith("loads/")] == [
        "loads/c1 (control)",
        "loads/mw1 (multiwrite)",
        "loads/l1 (load)",
    ]


def test_cycles_of_an_innocent_load_are_exact(run):
    cycles = [item for item in loads(run)["loads/mw1 (multiwrite)"].slices if item[0] == 0]
    assert [(start, end) for _, start, end, *_ in cycles] == list(itertools.pairwise(MW1))
    assert {(name, category) for _, _, _, name, category, _ in cycles} == {("cycle", "cycle")}
    assert [item[-1] for item in cycles] == [
        {"duration_ms": duration, "idle_ms": 100.0, "pause_ms": pause, "number": number}
        for number, (duration, pause) in enumerate([(100, 0), (1380, 1280), (100, 0), (40, 0)])
    ]


def test_a_pause_is_placed_at_the_load_s_writes(run):
    tracks = loads(run)

    def pauses(name):
        return [item[:5] for item in tracks[name].slices if item[4] == "pause"]

    assert pauses("loads/mw1 (multiwrite)") == [(1, 1100 * MS, 2380 * MS, "paused 1.28 s", "pause")]
    assert pauses("loads/c1 (control)") == [(1, 1100 * MS, 1500 * MS, "paused 0.40 s", "pause")]
    assert pauses("loads/l1 (load)") == [
        (1, 6000 * MS, 6500 * MS, "paused 0.50 s", "pause"),
        (1, 6700 * MS, 8000 * MS, "paused 1.30 s", "pause"),
    ]


def test_short_cycles_of_an_offender_are_joined_between_pauses(run):
    shown = [item for item in loads(run)["loads/l1 (load)"].slices if item[0] == 0]
    assert [(start, end, name) for _, start, end, name, _, _ in shown] == [
        (1000 * MS, 6500 * MS, "cycle"),
        (6500 * MS, 6700 * MS, "writing"),
        (6700 * MS, 8000 * MS, "cycle"),
        (8000 * MS, 8001 * MS, "writing"),
    ]
    assert [item[-1] for item in shown if item[3] == "writing"] == [
        {"cycles": 3, "duration_ms": 200.0, "longest_pause_ms": 199.0},
        {"cycles": 1, "duration_ms": 1.0, "longest_pause_ms": 1.0},
    ]


@pytest.mark.parametrize("bound_ms", [0, 150, 499, 500, 10_000])
def test_all_pauses_over_the_threshold_are_exported(run, bound_ms):
    tracks = loads(run, bound_ms * MS)
    for item in run.loads:
        track = tracks[f"loads/{item.name} ({item.load.kind})"]
        shown = [end - start for _, start, end, _, category, _ in track.slices if category == "pause"]
        assert shown == [pause for pause in item.pauses_ns.tolist() if pause > bound_ms * MS]
        outer = [(start, end) for depth, start, end, *_ in track.slices if depth == 0]
        assert [*(start for start, _ in outer), outer[-1][1]] == [outer[0][0], *(end for _, end in outer)]
        cycles = sum(item[-1].get("cycles", 1) for item in track.slices if item[0] == 0)
        assert cycles == len(item.durations_ns)


def test_the_start_of_an_offender_is_an_instant(run):
    assert loads(run)["offenders"].instants == [(6000 * MS, "l1 starts to write", "offender", {})]


def test_a_run_without_offenders_has_no_such_track(make_run):
    assert "offenders" not in loads(read_run(make_run({"c1": C1})))


ROWS = [
    (2000 * MS, (10, 20, 25, 3, 1)),
    (2001 * MS, (10, 20, 25, 3, 1)),
    (2002 * MS, (10, 20, 24, 4, 1)),
    (2002 * MS, (10, 21, 24, 3, 2)),
    (2003 * MS, (10, 21, 24, 3, 2)),
]


def test_counters_equal_the_columns(run):
    cache = page_cache(dirty_state(ROWS))
    tracks, state = view(export(run, cache, BOUND)).tracks, cache.dirty_state
    columns = {
        "dirty": state.dirty,
        "writeback": state.writeback,
        "dirty + writeback": state.dirty + state.writeback,
        "background threshold": state.background,
        "dirty threshold": state.threshold,
        "dirty limit": state.limit,
    }
    assert [name for name in tracks if name.startswith("page cache/")] == [f"page cache/{name}" for name in columns]
    for name, column in columns.items():
        track = tracks[f"page cache/{name}"]
        assert track.descriptor.counter.unit == CounterDescriptor.UNIT_SIZE_BYTES
        times, values = (np.array(items) for items in zip(*track.counters, strict=True))
        last = (
            np.searchsorted(state.ts_ns, state.ts_ns, side="right") - 1
        )  # of two values at one time, the later counts
        held = values[np.searchsorted(times, state.ts_ns, side="right") - 1]
        np.testing.assert_array_equal(held, column[last])
        assert (times[0], times[-1]) == (state.ts_ns[0], state.ts_ns[-1])
    assert tracks["page cache/dirty + writeback"].counters[0] == (2000 * MS, 4 * PAGE)


def test_a_value_that_stays_is_written_at_its_start_and_at_the_end(run):
    tracks = with_cache(run, dirty_state(ROWS)).tracks
    assert tracks["page cache/background threshold"].counters == [(2000 * MS, 10 * PAGE), (2003 * MS, 10 * PAGE)]


def test_throttled_tasks_have_slices_and_their_rates(run):
    rows = [(2000 * MS, 7, 30, 50), (2010 * MS, 8, 10, 60), (2028 * MS, 7, 0, 55), (2040 * MS, 7, 20, 55)]
    tracks = with_cache(run, throttling(rows)).tracks
    shown = tracks["throttling/mw1 (7) throttled"].slices
    # It returns 2 ms early: the first slice ends with the next decision. The second has no pause, so no slice.
    assert [item[:5] for item in shown] == [
        (0, 2000 * MS, 2028 * MS, "throttled", "throttling"),
        (0, 2040 * MS, 2060 * MS, "throttled", "throttling"),
    ]
    assert shown[0][-1] == {
        "pause_ms": 30.0,
        "paused_before_ms": 10.0,
        "limit_bytes": 50 * PAGE,
        "setpoint_bytes": 40 * PAGE,
        "dirty_bytes": 45 * PAGE,
        "task_rate_bytes_per_s": 50 * 1024,
        "base_rate_bytes_per_s": 100 * 1024,
    }
    rates = [(2000 * MS, 50 * 1024), (2028 * MS, 55 * 1024), (2040 * MS, 55 * 1024)]
    assert tracks["throttling/mw1 (7) rate limit"].counters == rates
    assert tracks["throttling/l1 (8) rate limit"].counters == [(2010 * MS, 60 * 1024)]
    assert tracks["throttling/base rate"].counters == [(2000 * MS, 100 * 1024), (2040 * MS, 100 * 1024)]
    assert tracks["throttling/base rate"].descriptor.counter.unit_name == "bytes/s"


def test_a_task_that_was_never_throttled_has_no_track(run):
    tracks = with_cache(run, throttling([(2000 * MS, 7, -5, 50)])).tracks
    assert "throttling/mw1 (7) rate limit" in tracks
    assert "throttling/mw1 (7) throttled" not in tracks


def test_other_events_are_instants_of_their_tasks_with_their_fields(run):
    start = events_of("writeback", "writeback_start", [(2005 * MS, 30, {"nr": 5}), (2007 * MS, 7, {"nr": -6})])
    issue = events_of("block", "block_rq_issue", [(2004 * MS, 30, {"sector": 8}), (2006 * MS, 0, {"sector": 16})])
    tracks = with_cache(run, dirty_state(ROWS), start, issue).tracks
    worker = tracks["kworker/0:1/kworker/0:1"]
    assert worker.instants == [
        (2004 * MS, "block_rq_issue", "block", {"cpu": 0, "sector": 8}),
        (2005 * MS, "writeback_start", "writeback", {"cpu": 0, "nr": 5}),
    ]
    thread = worker.descriptor.thread
    assert (thread.pid, thread.tid, thread.thread_name) == (30, 30, "kworker/0:1")
    assert tracks["kworker/0:1"].descriptor.process.process_name == "kworker/0:1"
    assert tracks["mw1/mw1"].instants == [(2007 * MS, "writeback_start", "writeback", {"cpu": 0, "nr": -6})]
    idle = tracks["<idle> (0)"]
    assert len(idle.instants) == 1
    assert not idle.descriptor.HasField("thread")


def test_flags_come_with_their_names(run):
    form = '"state=%s", __print_flags(REC->state, "|", {1, "I_NEW"}, {4, "I_DIRTY"})'
    events = events_of("x", "e", [(i, 1, {"state": state}) for i, state in enumerate([5, 8, 0])], form)
    said = [item[-1]["state"] for item in with_cache(run, events).tracks["python3/python3"].instants]
    assert said == ["I_NEW|I_DIRTY (5)", 8, 0]


def test_unsigned_64_bit_numbers_are_kept(run):
    events = events_of("x", "e", [(1, 1, {"address": (1 << 64) - 1})], signed=False)
    (instant,) = with_cache(run, events).tracks["python3/python3"].instants
    assert instant[-1]["address"] == (1 << 64) - 1


FIELDS = """
    __data_loc char[] text 8 4 0
    struct three bytes 12 3 0
    u8 rows[2] 15 2 0
    __data_loc u32[] lengths 20 4 0
"""


def test_texts_and_arrays_are_kept(run, tmp_path):
    def record(text, three, rows, lengths):
        numbers = struct.pack(f"<{len(lengths)}I", *lengths)
        places = 24 | len(text) << 16, 24 + len(text) | len(numbers) << 16
        return ring.record(1, 1, struct.pack("<I3s2B3xI", places[0], three, *rows, places[1]) + text + numbers)

    ring = Ring()
    records = record(b"a\0\0\0", b"\1\2\3", (1, 2), [7]), record("é\0\0".encode(), b"\4\5\6", (3, 4), [])
    pages = [ring.page(1, [ring.data(1, each) for each in records])]
    formats = {"x": [event_format("e", 1, FIELDS)]}
    trace = TraceWriter(ring, formats=formats, cmdlines="1 python3\n", buffers={"": [pages]})
    (tmp_path / "trace.dat").write_bytes(trace.encode())
    with tracecmd.open(tmp_path / "trace.dat") as opened:
        seen = with_cache(run, opened.events("e"))
    one, two = (item[-1] for item in seen.tracks["python3/python3"].instants)
    assert one == {"cpu": 0, "text": "a", "bytes": "01 02 03", "rows": [1, 2], "lengths": [7]}
    assert (two["text"], two["rows"], two["lengths"]) == ("é", [3, 4], [])


def many(name, count):
    return events_of("x", name, [(at, 1, {"n": at}) for at in range(count)])


def test_the_rarest_event_types_are_taken_up_to_a_limit(run):
    cache = page_cache(dirty_state(ROWS), many("often", 50), many("seldom", 3), many("now_and_then", 7))
    assert chosen_events(cache, 60) == (("seldom", "now_and_then", "often"), {})
    assert chosen_events(cache, 59) == (("seldom", "now_and_then"), {"often": 50})
    assert chosen_events(cache, 2) == ((), {"seldom": 3, "now_and_then": 7, "often": 50})
    seen = view(export(run, cache, BOUND, most_events=59))
    assert len(seen.tracks["python3/python3"].instants) == 10
    assert not view(export(run, cache, BOUND, most_events=2)).tracks.get("python3/python3")


def test_lost_events_are_slices_for_each_cpu(run):
    def lost(cpu, start, end, count, buffer=""):
        return tracecmd.LostEvents(buffer, cpu, start, end, count)

    losses = (lost(1, 5, 9, 12), lost(0, 20, 30, -1), lost(0, 4, 22, 3), lost(0, 1, 2, 3, "other"))
    tracks = with_cache(run, lost=losses).tracks
    assert tracks["lost events of CPU 0"].slices == [
        (0, 4, 22, "3 lost", "lost events", {"count": 3}),
        (0, 22, 30, "lost", "lost events", {"count": -1}),
    ]
    assert [item[1:4] for item in tracks["lost events of CPU 1"].slices] == [(5, 9, "12 lost")]


def test_untraced_events_have_no_tracks(run):
    assert set(with_cache(run).tracks) == set(loads(run))


def test_equal_runs_give_equal_bytes(run):
    def made():
        return export(run, page_cache(dirty_state(ROWS), throttling([(5, 7, 3, 4)]), many("e", 9)), BOUND)

    assert made() == made()


def test_negative_times_are_refused(run):
    early = replace(run.loads[0], boundaries_ns=np.array([-5, 5]))
    with pytest.raises(InputError, match="damaged"):
        export(replace(run, loads=(early,)), None, BOUND)


def test_a_damaged_event_is_an_input_error(run):
    cache = page_cache(many("e", 2))

    def events(name):
        raise tracecmd.TraceError("the trace is damaged: page 3")

    cache.trace.events = events
    with pytest.raises(InputError, match="page 3"):
        export(run, cache, BOUND)


def test_perfetto_s_own_reader_agrees(run, tmp_path):
    shell = shutil.which("trace_processor_shell") or shutil.which("trace_processor")
    if shell is None:
        pytest.skip("no trace_processor on this machine")
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    data = export(run, page_cache(dirty_state(ROWS)), BOUND)
    (tmp_path / "trace").write_bytes(data)
    with TraceProcessor(trace=str(tmp_path / "trace"), config=TraceProcessorConfig(bin_path=shell)) as processor:
        pauses = processor.query("select ts, dur from slice where category = 'pause' order by ts")
        assert (1100 * MS, 1280 * MS) in [(row.ts, row.dur) for row in pauses]
        (errors,) = processor.query("select count(*) as n from stats where severity = 'error' and value > 0")
        assert errors.n == 0


def test_verb_without_a_trace_exports_the_loads_alone(make_run, capsys):
    path = make_run({"c1": C1, "mw1": MW1})
    assert main(["timeline", "--format", "perfetto-trace", str(path)]) == 0
    said = capsys.readouterr()
    written = path / "trace.perfetto-trace"
    assert said.out == f"{written}\n"
    assert said.err.startswith("wblab: the export shows only the loads: ")
    assert said.err.count("\n") == 1
    assert "loads/mw1 (multiwrite)" in view(written.read_bytes()).tracks
    assert not list(path.glob(".*"))


def test_verb_uses_the_given_output_and_threshold(make_run, tmp_path, capsys):
    output = tmp_path / "out.perfetto-trace"
    path = make_run({"mw1": MW1})
    assert main(["timeline", "--format", "perfetto-trace", str(path), "--bound", "2s", "-o", str(output)]) == 0
    assert capsys.readouterr().out == f"{output}\n"
    assert not [item for item in view(output.read_bytes()).tracks["loads/mw1 (multiwrite)"].slices if item[0]]


def test_verb_lists_the_event_types_left_out(make_run, monkeypatch, capsys):
    path = make_run({"mw1": MW1})
    cache = page_cache(many("often", 3), many("seldom", 1))
    cache.trace.counts = lambda: {"often": MOST_EVENTS, "seldom": 1}
    monkeypatch.setattr("wblab.api.recorded.page_cache", lambda run: cache)
    assert main(["timeline", "--format", "perfetto-trace", str(path)]) == 0
    said = capsys.readouterr().err
    assert "left out, because such a file holds at most 200,000 such events: often (200,000)\n" in said


def test_verb_says_why_a_run_failed(make_run, capsys):
    assert (
        main(
            [
                "timeline",
                "--format",
                "perfetto-trace",
                str(make_run({"mw1": MW1}, outcome="failed", reason="disk full")),
            ]
        )
        == 0
    )
    assert "this run did not succeed: disk full" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--format", "ctf"], 2, "invalid choice: 'ctf'"),
        (["--bound", "5"], 2, "'5' is not understood"),
        (["-o", "/no/such/directory/a.perfetto-trace"], 1, "cannot write /no/such/directory/a"),
    ],
)
def test_verb_s_errors_are_one_line(make_run, capsys, arguments, code, said):
    assert main(["timeline", "--format", "perfetto-trace", str(make_run({"mw1": MW1})), *arguments]) == code
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("wblab: ")
    assert said in error


def test_help_states_the_threshold(capsys):
    with pytest.raises(SystemExit):
        main(["timeline", "--format", "perfetto-trace", "--help"])
    assert f"{MOST_EVENTS:,}" in capsys.readouterr().out
