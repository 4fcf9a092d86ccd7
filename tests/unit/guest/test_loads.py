import os
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.guestloads import start
from support.waiting import wait_until

from wblab.core import layout
from wblab.core.check import check_spec
from wblab.core.copied import Course
from wblab.core.cycles import ending
from wblab.core.errors import WblabError
from wblab.core.loads.base import NEVER
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.guest.agenda import agenda
from wblab.guest.devices import guest_disks
from wblab.guest.due import Agenda, Deadline, Due
from wblab.guest.loads import PHASE_SPREAD_NS, halt, phase_ns, stop_loads, wait_for
from wblab.guest.tree import descendants, end

S = 10**9
LONG_NS = 120 * S  # for what is instant on an idle machine


@pytest.fixture
def disk(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "MOUNTS", tmp_path)
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


@pytest.fixture
def spec():
    def make(**loads):
        spec = from_table(
            Spec,
            {
                "name": "x",
                "memory": "64M",
                "disk": {"size": "8M", "write_bps": 1},
                "time_limit": "3600s",
                "load": loads,
            },
        )
        check_spec(spec)
        return spec

    return make


CONTROL = {"kind": "control", "idle": "2ms"}
OFFENDER = {"kind": "load", "file": "l", "wait": "5ms", "size": "64K", "block": "1K"}


def quiet():
    pass


def gone(pid):
    return not os.path.exists(f"/proc/{pid}")


def begun(item):
    """Wait until a load's first cycle, because an earlier signal would kill it."""
    wait_until(item.stamps.times_ns)


@settings(deadline=None)
@given(st.integers(0, 2**63 - 1), st.text(max_size=64))
def test_an_initial_delay_is_within_its_spread(seed, name):
    assert 0 <= phase_ns(seed, name) < PHASE_SPREAD_NS


def test_an_initial_delay_depends_only_on_seed_and_name():
    phases = {(seed, name): phase_ns(seed, name) for seed in range(10) for name in ("c1", "w1", "mw1")}
    assert len(set(phases.values())) == len(phases)
    assert all(phase_ns(*key) == phase for key, phase in phases.items())
    assert phase_ns(1, "mw1") == 49430902  # the same on every machine, because runs must be repeatable elsewhere


def test_loads_run_together_until_the_offenders_have_ended(disk, spec):
    one = spec(c1=CONTROL, l1=OFFENDER)
    start_ns = time.monotonic_ns()
    control, offender = running = start(one, start_ns)
    wait_for([offender], at(start_ns + one.time_limit), quiet)
    assert gone(offender.pid)
    assert (disk / "l").stat().st_size == 64 << 10
    begun(control)
    stop_loads(running, one.stops, at(time.monotonic_ns() + LONG_NS))
    assert gone(control.pid)
    for item in running:
        assert item.stamps.times_ns()[0] >= start_ns + phase_ns(one.seed, item.name)


def at(deadline_ns):
    return Deadline(lambda: deadline_ns)


def test_a_load_waits_for_its_start(disk, spec):
    one = spec(l1=OFFENDER | {"start": "100ms"})
    start_ns = time.monotonic_ns()
    running = start(one, start_ns)
    wait_for(running, at(start_ns + one.time_limit), quiet)
    assert running[0].stamps.times_ns()[0] >= start_ns + 10**8 + phase_ns(one.seed, "l1")


def test_a_failing_load_ends_the_wait_with_its_reason(disk, spec):
    (disk / "l").symlink_to("/dev/full")
    running = start(spec(l1=OFFENDER, l2=OFFENDER | {"file": "m", "wait": "1s"}), 0)
    with pytest.raises(WblabError, match="the load l1 failed: No space left on device"):
        wait_for(running, at(time.monotonic_ns() + LONG_NS), quiet)
    begun(running[1])
    stop_loads(running, ["l2"], at(time.monotonic_ns() + LONG_NS))


def test_a_load_that_dies_is_named(disk, spec):
    running = start(spec(l1=OFFENDER | {"wait": "20s"}), 0)
    os.kill(running[0].pid, 9)
    with pytest.raises(WblabError, match="the load l1 died with signal SIGKILL"):
        wait_for(running, at(time.monotonic_ns() + LONG_NS), quiet)


def test_a_load_past_the_time_limit_is_named(disk, spec):
    running = start(spec(l1=OFFENDER | {"wait": "20s"}), 0)
    with pytest.raises(WblabError, match="the load l1 did not end within the time limit: raise time_limit"):
        wait_for(running, at(time.monotonic_ns()), quiet)
    begun(running[0])
    stop_loads(running, ["l1"], at(time.monotonic_ns() + LONG_NS))


def test_a_failing_innocent_load_ends_the_wait_unless_it_may_fail(disk, spec):
    (disk / "w").symlink_to("/dev/full")
    write = {"kind": "write", "file": "w", "idle": "5ms"}
    one, two = start(spec(w1=write, l1=OFFENDER | {"wait": "1800s"}), 0)
    with pytest.raises(WblabError, match="the load w1 failed: No space left on device"):
        wait_for([two], at(time.monotonic_ns() + 3600 * S), quiet, others=[one])  # before the offender begins
    begun(two)
    stop_loads([two], ["l1"], at(time.monotonic_ns() + LONG_NS))
    may = replace(spec(w1=write, l1=OFFENDER), may_fail=("w1",))
    running = start(may, 0)
    wait_until(lambda: ending(running[0].stamps).end == "failed")
    wait_for(running[1:], at(time.monotonic_ns() + LONG_NS), quiet, others=running[:1])
    stop_loads(running, may.stops, at(time.monotonic_ns() + LONG_NS))
    assert ending(running[0].stamps).end == "failed"


def test_due_actions_happen_on_time_while_loads_run(disk, spec):
    running = start(spec(l1=OFFENDER | {"wait": "1s"}), 0)
    start_ns, done = time.monotonic_ns(), []
    agenda = Agenda(
        [
            Due(lambda ms=ms: start_ns + ms * 10**6, lambda ms=ms: done.append((ms, time.monotonic_ns())))
            for ms in (60000, 0, 50)
        ]
    )
    wait_for(running, at(start_ns + LONG_NS), quiet, agenda=agenda)
    assert [ms for ms, _ in done] == [0, 50]
    assert done[1][1] >= start_ns + 50 * 10**6
    assert agenda.next_ns() == start_ns + 60 * S


def test_due_actions_happen_while_loads_are_being_stopped(disk, spec):
    running = start(spec(c1=CONTROL, l1=OFFENDER), 0)
    begun(running[0])
    os.kill(running[0].pid, signal.SIGSTOP)  # it does not end before it is allowed to
    due_ns = time.monotonic_ns() + 50 * 10**6
    agenda = Agenda([Due(lambda: due_ns, lambda: os.kill(running[0].pid, signal.SIGCONT))])
    stop_loads(running, ["c1"], at(time.monotonic_ns() + LONG_NS), agenda)
    assert agenda.next_ns() is None
    assert ending(running[0].stamps).end == "stopped"


MS = 10**6
LATE_OFFENDER = {"kind": "load", "file": "l", "wait": "2s", "size": "64K", "block": "1K"}


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Return a function that starts loads and waits until all are in their first cycle."""
    monkeypatch.setattr(layout, "MOUNTS", tmp_path)
    (tmp_path / "disk").mkdir()
    running = []

    def begin(**loads):
        table = {"name": "x", "memory": "64M", "disk": {"size": "8M", "write_bps": 1}, "load": loads}
        spec = from_table(Spec, table)
        running.extend(start(spec, time.monotonic_ns()))
        for item in running:
            wait_until(item.stamps.times_ns)
        return spec, running

    yield begin
    for item in running:
        with suppress(ChildProcessError):  # the guest waited for it
            end(item.pid)


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0]


def test_a_halted_load_stops_but_its_process_remains(started):
    _, (control, offender) = started(c1=CONTROL, l1=LATE_OFFENDER)
    before = time.monotonic_ns()
    halt(control)
    after = time.monotonic_ns()
    assert before <= control.stamps.times_ns()[-1] <= after
    assert ending(control.stamps).end == "halted"
    wait_until(lambda: state(control.pid) == "T")
    count = len(control.stamps.times_ns())
    halt(offender)
    stop_loads([control, offender], ["c1"], at(5))
    assert len(control.stamps.times_ns()) == count
    assert not os.path.exists(f"/proc/{control.pid}")
    assert not os.path.exists(f"/proc/{offender.pid}")


def test_a_run_with_a_halt_lasts_until_its_limit_and_succeeds(started):
    _, running = started(l1=LATE_OFFENDER | {"until": "1s"}, l2=LATE_OFFENDER | {"file": "l2"})
    halt(running[0])
    deadline = time.monotonic_ns() + 200 * MS
    wait_for(running, Deadline(lambda: deadline, lambda: True), quiet)
    assert time.monotonic_ns() >= deadline
    assert [ending(item.stamps).end for item in running] == ["halted", "halted"]


def test_without_a_halt_the_limit_is_a_failure(started):
    _, running = started(l1=LATE_OFFENDER)
    with pytest.raises(WblabError, match="the load l1 did not end within the time limit"):
        wait_for(running, at(time.monotonic_ns()), quiet)
    halt(running[0])


def test_an_ended_load_is_not_halted(started):
    _, running = started(l1=LATE_OFFENDER | {"wait": "1ms"})
    wait_for(running, at(time.monotonic_ns() + 120 * S), quiet)
    boundaries = running[0].stamps.times_ns()
    halt(running[0])
    assert (ending(running[0].stamps).end, running[0].stamps.times_ns()) == ("finished", boundaries)


def test_children_of_a_load_are_halted_with_it(started):
    _, running = started(p1={"kind": "command", "argv": ["sleep", "60"], "wait": "1ms"})
    wait_until(lambda: descendants(running[0].pid))
    (child,) = descendants(running[0].pid)
    halt(running[0])
    wait_until(lambda: state(child) == "T")
    stop_loads(running, [], at(5))
    wait_until(lambda: not os.path.exists(f"/proc/{child}") or state(child) == "Z")


def test_each_load_has_a_fixed_slot_in_the_agenda(started):
    spec, running = started(c1=CONTROL | {"until": "10s"}, l1=LATE_OFFENDER)
    found = agenda(guest_disks(spec), 0, running, Path(), lambda: Course.of(spec, NEVER))
    assert [item.time_ns() for item in found.due] == [0, NEVER, 10 * S, NEVER]
    found.due[2].act()
    assert running[0].is_halted
    halt(running[1])
