"""Lanes of a run: when each load worked and when it was frozen."""

from dataclasses import replace

import numpy as np

from tests.support.runs import MS, S, write_run
from wblab.analysis.runs.lanes import Lane, Lanes, axis_ns, lanes_of
from wblab.analysis.runs.run import read_run


def _run(tmp_path, **loads):
    return read_run(write_run(tmp_path / "run", loads))


def test_a_load_is_frozen_in_pauses_over_the_bound_and_not_while_it_sleeps(tmp_path):
    idle = 50 * MS
    times = np.cumsum([S, idle, idle + 300 * MS, idle + 2 * S, idle]).tolist()
    (lane,) = lanes_of(_run(tmp_path, w1=times)).lanes
    began = idle + idle + 300 * MS
    assert lane.frozen_ns == ((began, began + 2 * S),)
    assert (lane.start_ns, lane.end_ns) == (0, times[-1] - S)


def test_a_load_that_sleeps_first_is_frozen_after_its_sleep(tmp_path, monkeypatch):
    run = _run(tmp_path, w1=[0, 50 * MS + S])
    monkeypatch.setattr(type(run.loads[0].load), "sleeps_first", True)
    assert lanes_of(run).lanes[0].frozen_ns == ((50 * MS, 50 * MS + S),)


def test_innocent_loads_come_first_and_offenders_begin_when_they_write(tmp_path):
    found = lanes_of(_run(tmp_path, c1=[0, 50 * MS], w1=[0, 50 * MS], l1=[0, 6 * S, 9 * S]), "as it is")
    assert [(lane.name, lane.role) for lane in found.lanes] == [
        ("w1", "innocent"),
        ("l1", "offender"),
        ("c1", "control"),
    ]
    assert found.title == "as it is"
    assert found.begins_ns == found.lanes[1].start_ns == 5 * S
    assert found.lanes[1].frozen_ns == ()
    assert found.end_ns == axis_ns([found, found]) == 9 * S
    assert found.longest_ns == 0


def _lane(name, role, *frozen):
    return Lane(name, role, "", 0, 9 * S, frozen)


def test_what_is_drawn_is_frozen_longest_in_the_order_of_the_run_and_a_control_load_only_if_frozen():
    lanes = Lanes(
        "",
        (_lane("w1", "innocent"), _lane("w2", "innocent", (0, S)), _lane("l1", "offender"), _lane("c1", "control")),
        300 * MS,
    )
    assert [lane.name for lane in lanes.shown(9)] == ["w1", "w2", "l1"]
    assert [lane.name for lane in lanes.shown(2)] == ["w2", "l1"]
    stalled = replace(lanes, lanes=(*lanes.lanes[:3], _lane("c1", "control", (S, 2 * S))))
    assert [lane.name for lane in stalled.shown(9)] == ["w1", "w2", "l1", "c1"]


def test_an_offender_that_was_stopped_before_it_began_does_not_begin(tmp_path):
    found = lanes_of(_run(tmp_path, w1=[0, 50 * MS], l1=[0, 2 * S]))
    assert (found.lanes[1].worked, found.begins_ns) == (False, None)
