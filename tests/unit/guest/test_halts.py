"""Loads that are halted at some moment: their processes remain until the end of the run."""

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.waiting import wait_until

from wblab.core import layout
from wblab.core.cycles import ending
from wblab.core.errors import WblabError
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.guest.agenda import agenda
from wblab.guest.loads import halt, start_loads, stop_loads, wait_for
from wblab.guest.tree import descendants, end

S, MS = 10**9, 10**6
CONTROL = {"kind": "control", "idle": "2ms"}
OFFENDER = {"kind": "load", "file": "l", "wait": "2s", "size": "64K", "block": "1K"}


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """Return a function that starts loads and waits until all are in their first cycle."""
    monkeypatch.setattr(layout, "MOUNTS", tmp_path)
    (tmp_path / "disk").mkdir()
    running = []

    def begin(**loads):
        table = {"name": "x", "memory": "64M", "disk": {"size": "8M", "write_bps": 1}, "load": loads}
        spec = from_table(Spec, table)
        running.extend(start_loads(spec, time.monotonic_ns()))
        for item in running:
            wait_until(item.stamps.times_ns)
        return spec, running

    yield begin
    for item in running:
        with suppress(ChildProcessError):  # the guest waited for it
            end(item.pid)


def quiet():
    pass


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0]


def test_a_halted_load_stops_but_its_process_remains(begun):
    _, (control, offender) = begun(c1=CONTROL, l1=OFFENDER)
    before = time.monotonic_ns()
    halt(control)
    after = time.monotonic_ns()
    assert before <= control.stamps.times_ns()[-1] <= after
    assert ending(control.stamps).end == "halted"
    wait_until(lambda: state(control.pid) == "T")
    count = len(control.stamps.times_ns())
    halt(offender)
    stop_loads([control, offender], ["c1"], 5)
    assert len(control.stamps.times_ns()) == count
    assert not os.path.exists(f"/proc/{control.pid}")
    assert not os.path.exists(f"/proc/{offender.pid}")


def test_a_run_with_a_halt_lasts_until_its_limit_and_succeeds(begun):
    _, running = begun(l1=OFFENDER | {"until": "1s"}, l2=OFFENDER | {"file": "l2"})
    halt(running[0])
    deadline = time.monotonic_ns() + 200 * MS
    wait_for(running, deadline, quiet)
    assert time.monotonic_ns() >= deadline
    assert [ending(item.stamps).end for item in running] == ["halted", "halted"]


def test_without_a_halt_the_limit_is_a_failure(begun):
    _, running = begun(l1=OFFENDER)
    with pytest.raises(WblabError, match="the load l1 did not end within the time limit"):
        wait_for(running, time.monotonic_ns(), quiet)
    halt(running[0])


def test_an_ended_load_is_not_halted(begun):
    _, running = begun(l1=OFFENDER | {"wait": "1ms"})
    wait_for(running, time.monotonic_ns() + 120 * S, quiet)
    boundaries = running[0].stamps.times_ns()
    halt(running[0])
    assert (ending(running[0].stamps).end, running[0].stamps.times_ns()) == ("finished", boundaries)


def test_children_of_a_load_are_halted_with_it(begun):
    _, running = begun(p1={"kind": "command", "argv": ["sleep", "60"], "wait": "1ms"})
    wait_until(lambda: descendants(running[0].pid))
    (child,) = descendants(running[0].pid)
    halt(running[0])
    wait_until(lambda: state(child) == "T")
    stop_loads(running, [], 5)
    wait_until(lambda: not os.path.exists(f"/proc/{child}") or state(child) == "Z")


def test_each_load_has_a_fixed_slot_in_the_agenda(begun):
    spec, running = begun(c1=CONTROL | {"until": "10s"}, l1=OFFENDER)
    due = agenda(spec, 0, running, Path())
    assert [item.time_ns for item in due] == [0, 10 * S, 10**15, 10**15]
    due[1].act()
    assert running[0].is_halted
    halt(running[1])
