"""Phases: each is read when it is due, and only then is the time of the next one known."""

import json
from contextlib import suppress

import pytest
from support.guestloads import start
from support.waiting import wait_until

from wblab.core import layout
from wblab.core.copied import Course
from wblab.core.errors import WblabError
from wblab.core.loads.base import NEVER
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.guest import settings
from wblab.guest.agenda import agenda
from wblab.guest.devices import guest_disks
from wblab.guest.tree import descendants, end
from wblab.host.run import guest_texts
from wblab.machine.processes import get_ioprio

S = 10**9
LOADS = {"p1": {"kind": "command", "argv": ["sleep", "60"], "wait": "1ms"}}


@pytest.fixture
def guest_with(tmp_path, monkeypatch):
    """Return a function that gives a guest a spec; its scratch directory and disk belong to the test."""
    monkeypatch.setattr(layout, "SCRATCH", tmp_path)
    monkeypatch.setattr(layout, "MOUNTS", tmp_path)
    (tmp_path / "disk").mkdir()

    def tell(**phases):
        table = {"name": "x", "memory": "64M", "disk": {"size": "8M", "write_bps": 1}, "load": LOADS, "phase": phases}
        for name, text in guest_texts(from_table(Spec, table)).items():
            (tmp_path / name).write_text(text)
        parameters = json.loads((tmp_path / layout.PARAMETERS).read_text())
        return from_table(Spec, parameters["spec"], exact=True), parameters["first_phase_ns"]

    return tell


@pytest.fixture
def done(monkeypatch):
    """Return the sysctls that were set, in the order of their times."""
    found = []
    monkeypatch.setattr("wblab.guest.agenda.set_sysctls", lambda sysctls: found.extend(sysctls.items()))
    return found


def test_a_guest_gets_no_information_about_future_phases(guest_with, tmp_path):
    with_one, plain = guest_with(a={"at": "3s", "sysctl": {"vm.swappiness": 1}}), None
    size = (tmp_path / layout.PARAMETERS).stat().st_size
    plain = guest_with()
    assert with_one[0] == plain[0]
    assert (with_one[1], plain[1]) == (3 * S, NEVER)
    assert (tmp_path / layout.PARAMETERS).stat().st_size == size


def test_phases_are_entered_in_the_order_of_their_times(guest_with, done, tmp_path):
    spec, first_ns = guest_with(
        late={"at": "7s", "sysctl": {"vm.swappiness": 2}},
        early={"at": "3s", "sysctl": {"vm.swappiness": 1}},
        besides={"at": "7s", "sysctl": {"vm.swappiness": 3}},
    )
    found = agenda(guest_disks(spec), S, [], tmp_path, lambda: Course.of(spec, first_ns))
    assert [item.time_ns() for item in found.due] == [S, 4 * S]
    found.due.pop(0)
    times_ns = []
    while (next_ns := found.next_ns()) < S + NEVER:
        times_ns.append(next_ns)
        found.due.pop(0).act()
    assert times_ns == [4 * S, 8 * S, 8 * S]
    assert done == [("vm.swappiness", 1), ("vm.swappiness", 2), ("vm.swappiness", 3)]


def test_a_failing_setting_is_named_with_its_phase(guest_with, tmp_path, monkeypatch):
    spec, first_ns = guest_with(odd={"at": "3s", "disk": {"disk": {"queue": {"no_such": 1}}}})
    monkeypatch.setattr(settings, "Path", lambda *parts: tmp_path.joinpath("none", *map(str, parts[1:])))
    with pytest.raises(WblabError, match=r"cannot set phase\.odd\.disk\.disk\.queue\.no_such to 1"):
        agenda(guest_disks(spec), 0, [], tmp_path, lambda: Course.of(spec, first_ns)).due[1].act()


def test_a_load_and_its_children_get_a_new_io_class(guest_with, tmp_path):
    spec, first_ns = guest_with(calm={"at": "3s", "load": {"p1": {"ioclass": "idle"}}})
    running = start(spec, 0)
    try:
        wait_until(lambda: descendants(running[0].pid))
        agenda(guest_disks(spec), 0, running, tmp_path, lambda: Course.of(spec, first_ns)).due[1].act()
        pids = [running[0].pid, *descendants(running[0].pid)]
        assert len(pids) == 2
        assert all(get_ioprio(pid) == 3 << 13 for pid in pids)
    finally:
        with suppress(ChildProcessError):
            end(running[0].pid)


def test_a_load_that_has_ended_keeps_its_class(guest_with, tmp_path):
    spec, first_ns = guest_with(calm={"at": "3s", "load": {"p1": {"ioclass": "idle"}}})
    running = start(spec, 0)
    end(running[0].pid)
    agenda(guest_disks(spec), 0, running, tmp_path, lambda: Course.of(spec, first_ns)).due[1].act()
