import os
import random
import re
import signal
import time
from pathlib import Path

import pytest
from support.ioprios import all_ioprios

from wblab.core.child import fork_child
from wblab.core.errors import WblabError
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import MITIGATE
from wblab.live.mitigate.heldgroup import ControlGroup
from wblab.live.mitigate.measures import IoClass, put_back_strays
from wblab.machine.cgroup import cgroup_root
from wblab.machine.changes import MadeGroup
from wblab.machine.processes import get_ioprio, ioprio_value, set_ioprio, threads

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="changes processes, which needs root"),
    pytest.mark.usefixtures("alone"),
]
OUR_IDLE = ioprio_value("idle", 5)
BEST_EFFORT_7 = ioprio_value("best-effort", 7)
VALUES = [
    0,
    *(ioprio_value("best-effort", level) for level in range(8)),
    *(ioprio_value("realtime", n) for n in (0, 7)),
]
VALUES += [ioprio_value("idle", 0), ioprio_value("idle", 7)]
# Each line of input is Python code to run; a reply follows.
PUPPET = """
import os, sys, threading, time
from wblab.machine.processes import set_ioprio
def thread(value=None):
    ready = threading.Event()
    def work():
        if value is not None: set_ioprio(0, value)
        ready.set()
        time.sleep(1000)
    threading.Thread(target=work, daemon=True).start()
    ready.wait()
def child():
    pid = os.fork()
    if not pid: time.sleep(1000); os._exit(0)
    return pid
def orphan(leave=False):
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        grandchild = os.fork()
        if grandchild: os.write(write, str(grandchild).encode()); os._exit(0)
        if leave: os.setsid()
        time.sleep(1000)
    os.waitpid(pid, 0)
    return int(os.read(read, 20))
for line in sys.stdin:
    print(eval(line), flush=True)
"""


@pytest.fixture
def puppet(start):
    return start(PUPPET)


def tell(process, text):
    process.stdin.write(text + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


@pytest.fixture(params=[OUR_IDLE, BEST_EFFORT_7], ids=["idle", "best-effort-7"])
def measure(request, tmp_path):
    return IoClass(Journal(tmp_path / "mitigate.json", MITIGATE), request.param)


def let_go(journal):
    before = list(journal.changes)
    assert journal.undo(before) == []
    assert put_back_strays(journal, before) == []


def test_each_thread_s_setting_is_restored(measure, puppet):
    for value in VALUES:
        tell(puppet, f"thread({value})")
    before = all_ioprios(puppet.pid)
    assert set(VALUES) == set(before.values())
    measure.hold(puppet.pid)
    assert set(all_ioprios(puppet.pid).values()) == {measure.value}
    let_go(measure.journal)
    assert all_ioprios(puppet.pid) == before


def test_new_threads_are_included_and_restored_to_their_process_s_setting(measure, puppet):
    set_ioprio(puppet.pid, ioprio_value("best-effort", 2))
    measure.hold(puppet.pid)
    tell(puppet, "thread()")
    tell(puppet, "thread(0)")  # goes its own way
    assert measure.hold(puppet.pid) == 2
    assert measure.hold(puppet.pid) == 0
    let_go(measure.journal)
    assert sorted(all_ioprios(puppet.pid).values()) == [0, *[ioprio_value("best-effort", 2)] * 2]


def test_children_of_a_limited_process_are_restored_to_its_setting(measure, puppet):
    set_ioprio(puppet.pid, ioprio_value("best-effort", 2))
    measure.hold(puppet.pid)
    child = int(tell(puppet, "child()"))
    assert get_ioprio(child) == measure.value
    assert measure.hold(child) == 1
    let_go(measure.journal)
    assert get_ioprio(child) == ioprio_value("best-effort", 2)


def test_unseen_children_and_threads_are_restored_too(measure, puppet):
    set_ioprio(puppet.pid, ioprio_value("best-effort", 2))
    measure.hold(puppet.pid)
    tell(puppet, "thread()")
    tell(puppet, "child()")
    let_go(measure.journal)
    assert set(all_ioprios(puppet.pid).values()) == {ioprio_value("best-effort", 2)}


@pytest.mark.parametrize("leave", [False, True], ids=["in its session", "in a session of its own"])
def test_orphans_are_recognised_by_the_level_of_the_lab_s_idle_class(puppet, tmp_path, leave):
    measure = IoClass(Journal(tmp_path / "mitigate.json", MITIGATE), OUR_IDLE)
    set_ioprio(puppet.pid, ioprio_value("best-effort", 2))
    measure.hold(puppet.pid)
    orphan = int(tell(puppet, f"orphan({leave})"))
    try:
        assert get_ioprio(orphan) == OUR_IDLE
        while leave and os.getsid(orphan) != orphan:
            time.sleep(0.01)
        let_go(measure.journal)
        assert get_ioprio(orphan) == ioprio_value("best-effort", 2)
    finally:
        os.kill(orphan, signal.SIGKILL)


def test_a_process_that_chose_the_class_itself_keeps_it(puppet, tmp_path):
    measure = IoClass(Journal(tmp_path / "mitigate.json", MITIGATE), BEST_EFFORT_7)
    set_ioprio(puppet.pid, BEST_EFFORT_7)
    assert measure.hold(puppet.pid) == 0
    let_go(measure.journal)
    assert get_ioprio(puppet.pid) == BEST_EFFORT_7


def test_a_later_change_by_others_is_left_alone(measure, puppet):
    measure.hold(puppet.pid)
    set_ioprio(puppet.pid, ioprio_value("best-effort", 1))
    let_go(measure.journal)
    assert get_ioprio(puppet.pid) == ioprio_value("best-effort", 1)


def test_a_priority_shared_by_threads_is_restored(measure, start):
    """With CLONE_IO, setting one priority sets both."""
    process = start(
        """
import ctypes, sys, time
from wblab.machine.processes import set_ioprio
set_ioprio(0, 2 << 13 | 3)
libc = ctypes.CDLL(None)
CLONE_IO, SIGCHLD = 0x80000000, 17
print(pid := libc.syscall(56, ctypes.c_ulong(CLONE_IO | SIGCHLD), 0, 0, 0, 0), flush=True)
time.sleep(1000)
"""
    )
    process.stdout.readline()
    before = all_ioprios(process.pid)
    assert list(before.values()) == [ioprio_value("best-effort", 3)] * 2
    for pid, _ in before:
        measure.hold(pid)
    let_go(measure.journal)
    assert all_ioprios(process.pid) == before


def test_a_reused_pid_is_not_mistaken_for_the_limited_process(measure, puppet):
    measure.hold(puppet.pid)
    (change,) = measure.journal.changes
    other = type(change)(**{**vars(change), "start_ticks": change.start_ticks - 1})
    other.undo()
    assert get_ioprio(puppet.pid) == measure.value


def hold_and_release(state, pids):
    journal = Journal(state / "mitigate.json", MITIGATE)
    measure = IoClass(journal, OUR_IDLE)
    for pid in pids:
        measure.hold(pid)
    before = list(journal.changes)
    journal.undo(before)
    put_back_strays(journal, before)


def test_a_kill_at_any_moment_can_be_undone(start, tmp_path):
    """After any step, the journal and the marks are sufficient to restore all threads."""
    puppets = [start(PUPPET) for _ in range(3)]
    chance = random.Random(1)
    for puppet in puppets:
        set_ioprio(puppet.pid, chance.choice(VALUES))
        for _ in range(10):
            tell(puppet, f"thread({chance.choice(VALUES)})")

    def ioprios():
        return {tid: get_ioprio(tid) for puppet in puppets for tid in threads(puppet.pid)}

    def again_and_again():
        while True:
            hold_and_release(tmp_path, pids)

    pids = [puppet.pid for puppet in puppets]
    before = ioprios()
    start_s = time.monotonic()
    hold_and_release(tmp_path, pids)
    length_s = time.monotonic() - start_s  # on this machine, now
    interrupted = 0
    for _ in range(40):
        daemon = fork_child(again_and_again)
        time.sleep(chance.random() * 2 * length_s)
        os.kill(daemon, signal.SIGKILL)
        os.waitpid(daemon, 0)
        interrupted += ioprios() != before
        let_go(Journal(tmp_path / "mitigate.json", MITIGATE))
        assert ioprios() == before
    assert interrupted


@pytest.fixture
def cgroup(tmp_path):
    """A measure with a control group on this machine's cgroup v2, with any of its controllers, or none."""
    root = cgroup_root()
    if root is None or not os.access(root / "cgroup.procs", os.W_OK):
        pytest.skip("no cgroup v2 to write to here")
    measure = ControlGroup(Journal(tmp_path / "mitigate.json", MITIGATE), root, (), lambda *_: {})
    if measure.group.exists():
        pytest.skip("a daemon is at work here")
    measure.journal.note(MadeGroup(path=str(measure.group)))
    measure.group.mkdir()
    yield measure
    let_go(measure.journal)
    assert not measure.group.exists()


def group_of(pid):
    return re.search(r"^0::(.*)$", Path(f"/proc/{pid}/cgroup").read_text(), re.M)[1]


def test_processes_return_to_their_control_groups(cgroup, puppet):
    before = group_of(puppet.pid)
    assert cgroup.hold(puppet.pid) == 1
    assert cgroup.hold(puppet.pid) == 0
    assert group_of(puppet.pid) == "/wblab-mitigate"
    child, unseen = int(tell(puppet, "child()")), int(tell(puppet, "child()"))
    orphan = int(tell(puppet, "orphan()"))
    assert cgroup.hold(child) == 1
    let_go(cgroup.journal)
    assert {group_of(pid) for pid in (puppet.pid, child, unseen, orphan)} == {before}


def test_a_control_group_removed_in_the_meantime_is_recreated(cgroup, puppet):
    home = cgroup.root / f"wblab-test-{os.getpid()}"
    home.mkdir()
    try:
        (home / "cgroup.procs").write_text(str(puppet.pid))
        cgroup.hold(puppet.pid)
        home.rmdir()
        let_go(cgroup.journal)
        assert group_of(puppet.pid) == f"/{home.name}"
    finally:
        puppet.kill()
        puppet.wait()
        MadeGroup(path=str(home)).undo()


def test_a_missing_controller_is_named(tmp_path):
    journal = Journal(tmp_path / "mitigate.json", MITIGATE)
    measure = ControlGroup(journal, tmp_path, ("memory",), lambda *_: {"memory.high": "1"})
    (tmp_path / "cgroup.controllers").write_text("cpu io\n")
    with pytest.raises(WblabError, match="has no memory controller here"):
        measure.check("sda")
    with pytest.raises(WblabError, match="no cgroup v2 on this machine"):
        ControlGroup(journal, None, ("memory",), lambda *_: {}).check("sda")
