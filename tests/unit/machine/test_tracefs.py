import os

import pytest

from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo


@pytest.fixture
def undo():
    if os.geteuid():
        pytest.skip("only root may trace")
    with Undo() as undo:
        try:
            Instance("wblab-probe", undo)
        except OSError as error:
            pytest.skip(f"this host does not let us trace: {error}")
        yield undo


def test_an_instance_records_what_it_enables_and_is_gone_at_the_end(undo):
    with Undo() as own:
        instance = Instance("wblab-test", own, buffer_bytes=64 << 10)
        assert "[mono]" in (instance.path / "trace_clock").read_text()
        assert instance.enable("sched:sched_process_fork")
        assert not instance.enable("sched:no_such_event")
        instance.start()
        if pid := os.fork():
            os.waitpid(pid, 0)
        else:
            os._exit(0)
        instance.stop()
        assert "sched_process_fork: comm=" in (instance.path / "trace").read_text()
        assert instance.lost() == 0
    assert own.failures == ()
    assert not instance.path.exists()


def test_others_are_not_disturbed(undo):
    with Undo() as outer:
        other = Instance("wblab-other", outer)
        other.enable("sched:sched_process_exit")
        other.start()
        with Undo() as own:
            mine = Instance("wblab-mine", own)
            mine.enable("sched:sched_process_exit")
            mine.start()
        assert not mine.path.exists()
        assert (other.path / "events/sched/sched_process_exit/enable").read_text().strip() == "1"
        assert (other.path / "tracing_on").read_text().strip() == "1"


def test_a_name_that_is_taken_is_refused_and_left_alone(undo):
    with Undo() as outer:
        taken = Instance("wblab-taken", outer)
        with Undo() as own, pytest.raises(FileExistsError):
            Instance("wblab-taken", own)
        assert taken.path.is_dir()


def test_tracefs_is_unmounted_if_it_was_mounted_for_it(undo):
    with Undo() as own:
        root = Instance("wblab-again", own).path.parent.parent
        assert root.is_mount()
    assert own.failures == ()
    assert "wblab-tracefs-" not in str(root) or not root.exists()


def test_two_that_mount_it_take_nothing_from_each_other(undo):
    with Undo() as outer:
        stays = Instance("wblab-stays", outer)
        with Undo() as own:
            Instance("wblab-goes", own)
        assert own.failures == ()
        stays.start()
        assert (stays.path / "tracing_on").read_text().strip() == "1"
