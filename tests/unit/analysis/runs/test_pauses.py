import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wblab.analysis.runs.pauses import (
    Window,
    around,
    between,
    cycles_in,
    load_pauses,
    longest_paused,
    pause_report,
    whole,
)
from wblab.analysis.runs.run import LoadCycles, read_run
from wblab.cli import main
from wblab.core.errors import InputError
from wblab.core.loads import MultiWrite
from wblab.core.units import Nanoseconds
from wblab.report.pausetext import table

MS = 1_000_000
IDLE_MS = 100
NAMES = {
    "name", "kind", "disk", "cycles", "duration_s", "longest_pause_s", "wait_time_s", "paused_s", "paused_fraction",
    "pauses", "dropped",
}  # fmt: skip


def cycles(durations_ms: list[int]) -> LoadCycles:
    load = MultiWrite(file="f", idle=Nanoseconds(IDLE_MS * MS))
    boundaries = np.cumsum([0, *durations_ms], dtype=np.int64) * MS
    return LoadCycles("mw1", load, 1, "stopped", "", boundaries)


def test_figures_by_hand():
    figures = load_pauses(cycles([100, 600, 90, 1110]), zero_ns=-MS * 1000)
    assert figures.cycles == 4
    assert figures.duration_s == pytest.approx(1.9)
    assert figures.longest_pause_s == pytest.approx(1.01)
    assert figures.paused_s == pytest.approx(1.51)
    assert figures.paused_fraction == pytest.approx(1.51 / 1.9)
    assert figures.wait_time_s == pytest.approx((0.5**2 + 1.01**2) / (2 * 1.9))
    assert [(p.start_s, p.duration_s) for p in figures.pauses] == [
        (pytest.approx(1.1), 0.5),
        (pytest.approx(1.79), 1.01),
    ]


@given(st.lists(st.integers(min_value=1, max_value=10_000), min_size=1, max_size=30))
def test_wait_time_is_the_mean_wait_over_all_instants(durations_ms):
    """At a moment within a pause, the wait is the rest of the pause, which is the end of its cycle."""
    figures = load_pauses(cycles(durations_ms), zero_ns=0)
    ends_ms = np.cumsum(durations_ms)
    waited = sum(
        (end - instant - 0.5) / 1000
        for end, duration in zip(ends_ms, durations_ms, strict=True)
        for instant in range(end - max(0, duration - IDLE_MS), end)
    )
    assert figures.wait_time_s == pytest.approx(waited / ends_ms[-1], abs=1e-9)


@given(st.lists(st.integers(min_value=0, max_value=5000), min_size=1, max_size=50))
def test_figures_are_consistent(durations_ms):
    figures = load_pauses(cycles(durations_ms), zero_ns=0, bound_ns=0)
    assert 0 <= figures.longest_pause_s <= figures.paused_s + 1e-9
    assert figures.paused_s <= figures.duration_s + 1e-9
    assert figures.wait_time_s <= figures.longest_pause_s / 2 + 1e-9
    assert sum(pause.duration_s for pause in figures.pauses) == pytest.approx(figures.paused_s)


def test_json_has_exactly_the_names_of_the_terms(make_run):
    report = pause_report(read_run(make_run({"mw1": [0, 100 * MS, 900 * MS]})))
    content = json.loads(json.dumps(report.to_json()))
    (load,) = content["loads"]
    assert set(load) == NAMES
    assert load["pauses"] == [{"start_s": 0.1, "duration_s": 0.7}]


def test_report_of_a_failed_run_says_why(make_run):
    report = pause_report(read_run(make_run({"mw1": [0, MS]}, outcome="failed", reason="disk full")))
    assert (report.kind, report.outcome, report.reason) == ("uml", "failed", "disk full")


def test_control_load_that_stalls_is_reported(make_run):
    calm = read_run(make_run({"c1": [0, 50 * MS, 140 * MS]}, clock="real"))
    assert pause_report(calm).control_stall_s is None
    noisy = read_run(make_run({"c1": [0, 50 * MS, 160 * MS]}, clock="real"))
    assert pause_report(noisy).control_stall_s == pytest.approx(0.06)


def test_table_names_every_load_and_its_longest_pause(make_run):
    lines = table(pause_report(read_run(make_run({"c1": [0, 50 * MS], "mw1": [0, 1350 * MS]})))).lines()
    assert len(lines) == 3
    assert "1.25 s" in lines[2]
    assert "0.0 s (1.25 s)" in lines[2]


def test_a_load_that_ended_with_an_error_is_named(make_run, capsys):
    path = make_run({"c1": [0, 50 * MS], "w1": [0, 50 * MS]})
    record = json.loads((path / "load.w1.json").read_text())
    (path / "load.w1.json").write_text(json.dumps(record | {"end": "failed", "error": "Input/output error"}))
    assert pause_report(read_run(path)).errors == {"w1": "Input/output error"}
    assert main(["why", "--pauses", str(path)]) == 0
    assert "w1: ended after 50 ms with an error: Input/output error\n" in capsys.readouterr().out


def test_work_that_a_main_loop_dropped_is_said(make_run, capsys):
    path = make_run({"c1": [0, 50 * MS], "w1": [0, 50 * MS, 100 * MS]})
    record = json.loads((path / "load.w1.json").read_text())
    (path / "load.w1.json").write_text(json.dumps(record | {"dropped": 1}))
    assert main(["why", "--pauses", str(path)]) == 0
    assert "w1: dropped the work of 1 of its 2 cycles, for lack of room\n" in capsys.readouterr().out


S = 1000 * MS


@pytest.fixture
def run(make_run):
    """w1 never stalls, mw1 stalls from 4.1 s to 6 s, and the offender's only cycle is the longest of all."""
    return read_run(
        make_run(
            {
                "c1": [S + 50 * MS * i for i in range(201)],
                "w1": [S + 50 * MS * i for i in range(201)],
                "mw1": [S, 5 * S, 7 * S, 11 * S],
                "l1": [S, 6 * S, 11 * S],
            }
        )
    )


def test_whole_run(run):
    assert whole(run) == Window(S, 11 * S)
    assert whole(run).duration_ns == 10 * S


def test_between_counts_from_the_start_of_the_loads(run):
    assert between(run, 2 * S, 3 * S) == Window(3 * S, 4 * S)
    assert between(run, None, 3 * S) == Window(S, 4 * S)
    assert between(run, 9 * S, None) == Window(10 * S, 11 * S)


def test_between_ends_with_the_run(run):
    assert between(run, 9 * S, 99 * S) == Window(10 * S, 11 * S)


@pytest.mark.parametrize(("start", "end"), [(10 * S, None), (20 * S, 30 * S), (None, 0)])
def test_between_outside_the_run(run, start, end):
    with pytest.raises(InputError, match=r"lasts 10.00 s"):
        between(run, start, end)


def test_between_refuses_reversed_times(run):
    with pytest.raises(InputError, match="between 5 s and 3 s: --from must be before --to"):
        between(run, 5 * S, 3 * S)


def test_longest_pause_is_that_of_an_innocent_load_that_writes(run):
    assert longest_paused(run).name == "mw1"


def test_around_the_longest_pause_has_a_margin(run):
    window = around(run, "longest")
    index = int(run.load("mw1").pauses_ns.argmax())
    start_ns, end_ns = run.load("mw1").boundaries_ns[index : index + 2]
    assert window.start_ns < start_ns or window.start_ns == S
    assert window.end_ns > end_ns or window.end_ns == 11 * S


def test_around_one_load(run):
    assert around(run, "w1").duration_ns <= 2 * S


def test_around_an_unknown_load(run):
    with pytest.raises(InputError, match=r"no load 'mw2' .*did you mean 'mw1'.*give 'longest'"):
        around(run, "mw2")


def test_cycles_in_a_window_are_those_that_overlap_it(run):
    item = run.load("mw1")
    assert cycles_in(item, None) == (0, 3)
    assert cycles_in(item, Window(S, 11 * S)) == (0, 3)
    assert cycles_in(item, Window(5 * S, 7 * S)) == (1, 2)
    assert cycles_in(item, Window(6 * S, 8 * S)) == (1, 3)
    assert cycles_in(item, Window(20 * S, 30 * S)) == (3, 3)
    assert cycles_in(item, Window(0, S // 2)) == (0, 0)
