import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo


@pytest.fixture
def undo():
    if os.geteuid():
        pytest.skip("only root may trace")
    with Undo() as undo:
        try:
            Instance("probe", undo)
        except OSError as error:
            pytest.skip(f"this host does not let us trace: {error}")
        yield undo


def record_a_fork(instance):
    instance.start()
    if pid := os.fork():
        os.waitpid(pid, 0)
    else:
        os._exit(0)
    instance.stop()


def test_an_instance_records_its_events_and_is_removed_at_the_end(undo):
    with Undo() as own:
        instance = Instance("test", own, buffer_bytes=64 << 10)
        assert "[mono]" in (instance.path / "trace_clock").read_text()
        assert instance.enable("sched:sched_process_fork")
        assert not instance.enable("sched:no_such_event")
        record_a_fork(instance)
        assert "sched_process_fork: comm=" in (instance.path / "trace").read_text()
        assert instance.lost() == 0
    assert own.failures == ()
    assert not instance.path.exists()


def test_a_filter_leaves_out_what_it_does_not_want(undo):
    with Undo() as own:
        instance = Instance("test", own, buffer_bytes=64 << 10)
        assert not instance.filter("sched:no_such_event", "child_pid == 0")
        assert not instance.filter("sched:sched_process_fork", "no_such_field > 0")
        assert instance.filter("sched:sched_process_fork", "child_pid == 0")
        assert instance.enable("sched:sched_process_fork")
        record_a_fork(instance)
        assert "sched_process_fork: comm=" not in (instance.path / "trace").read_text()


def test_other_tracers_are_not_disturbed(undo):
    with Undo() as outer:
        other = Instance("other", outer)
        other.enable("sched:sched_process_exit")
        other.start()
        with Undo() as own:
            mine = Instance("mine", own)
            mine.enable("sched:sched_process_exit")
            mine.start()
        assert not mine.path.exists()
        assert (other.path / "events/sched/sched_process_exit/enable").read_text().strip() == "1"
        assert (other.path / "tracing_on").read_text().strip() == "1"


def test_an_existing_instance_is_refused_and_left_alone(undo):
    with Undo() as outer:
        taken = Instance("taken", outer)
        with Undo() as own, pytest.raises(FileExistsError):
            Instance("taken", own)
        assert taken.path.is_dir()


def test_tracefs_is_unmounted_if_it_was_mounted_for_it(undo):
    with Undo() as own:
        root = Instance("again", own).path.parent.parent
        assert root.is_mount()
    assert own.failures == ()
    assert "wblab-tracefs-" not in str(root) or not root.exists()


def test_two_users_of_a_mounted_tracefs_do_not_interfere(undo):
    with Undo() as outer:
        stays = Instance("stays", outer)
        with Undo() as own:
            Instance("goes", own)
        assert own.failures == ()
        stays.start()
        assert (stays.path / "tracing_on").read_text().strip() == "1"


LEAVE = """
import os, signal, sys
from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo
with Undo() as undo:
    print(Instance("left", undo).path, flush=True)
    sys.stdin.readline()
    os.kill(undo._guard.pid, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@contextmanager
def left_behind():
    """Give the trace instance of a process that is killed together with its guard at the end.

    What has to hold before is asked while the process lives: another lab on this host may remove the instance as soon
    as it is dead.
    """
    killed = subprocess.Popen([sys.executable, "-c", LEAVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield Path(killed.stdout.readline().strip())
    killed.communicate("\n")


def test_remains_of_a_killed_lab_and_guard_are_removed_by_the_next(undo):
    with left_behind() as left:
        assert left.is_dir()
    with Undo() as own:
        mine = Instance("mine", own)
        assert mine.path.is_dir()
        assert left.name not in os.listdir(mine.path.parent)
    place = left.parent.parent
    assert "wblab-tracefs-" not in str(place) or not place.exists()


def test_remains_in_use_are_kept(undo):
    with Undo() as own, ExitStack() as reader:
        with left_behind() as left:
            reader.enter_context((left / "trace_pipe").open("rb"))
        assert left.name in os.listdir(Instance("mine", own).path.parent)
    with Undo() as own:
        assert left.name not in os.listdir(Instance("mine", own).path.parent)
