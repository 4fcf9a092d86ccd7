import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from support.processes import alive
from support.waiting import wait_until

from wblab.core.errors import WblabError
from wblab.lab.specfile import ROOT
from wblab.machine.undo import NoUndo, Undo

HOLDER = """
import sys, time
from pathlib import Path
from wblab.machine.undo import NoUndo, Undo
with Undo() as undo:
    for number in range(int(sys.argv[2])):
        directory = Path(sys.argv[1], str(number))
        undo.note("remove directory", str(directory))
        directory.mkdir()
        print(number, flush=True)
    time.sleep(60)
"""


def test_steps_are_done_last_first_at_the_end(tmp_path):
    with Undo() as undo:
        for name in ("outer", "outer/inner"):
            undo.note("remove directory", str(tmp_path / name))
            (tmp_path / name).mkdir()
        assert (tmp_path / "outer" / "inner").is_dir()
    assert not list(tmp_path.iterdir())
    assert undo.failures == ()


def test_they_are_done_after_an_error_too(tmp_path):
    (file := tmp_path / "setting").write_text("old")
    with suppress(ZeroDivisionError), Undo() as undo:
        undo.note("write", str(file), file.read_text())
        file.write_text("new")
        raise ZeroDivisionError
    assert file.read_text() == "old"


def test_a_change_that_was_noted_but_not_made_is_no_failure(tmp_path):
    with Undo() as undo:
        undo.note("remove directory", str(tmp_path / "never"))
        undo.note("remove", str(tmp_path / "never.txt"))
    assert undo.failures == ()


def test_what_cannot_be_undone_is_said(tmp_path):
    with Undo() as undo:
        undo.note("write", str(tmp_path / "none" / "setting"), "1")
    assert undo.failures == (f"cannot undo write {tmp_path}/none/setting 1: No such file or directory",)


def test_nothing_is_noted_when_the_guard_is_gone(tmp_path):
    with Undo() as undo:
        assert undo._guard is not None
        undo._guard.kill()
        undo._guard.wait()
        with pytest.raises(WblabError, match="nothing more is changed"):
            undo.note("remove", str(tmp_path / "x"))
    assert "may still be there" in undo.failures[-1]


@pytest.mark.parametrize("seen", [0, 1, 7, 49])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_holder_leaves_nothing(tmp_path, seen, number):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), "50"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
    assert holder.stdout is not None
    for line in holder.stdout:
        if int(line) == seen:
            break
    os.killpg(holder.pid, number)
    holder.wait()
    wait_until(lambda: not list(tmp_path.iterdir()))


def test_signals_to_the_process_group_do_not_reach_the_guard(tmp_path):
    with Undo() as undo:
        assert undo._guard is not None
        assert os.getpgid(undo._guard.pid) != os.getpgid(0)
        os.kill(undo._guard.pid, signal.SIGTERM)
        undo.note("remove", str(tmp_path / "x"))
        (tmp_path / "x").touch()
    assert not (tmp_path / "x").exists()


def test_a_process_group_is_killed_with_what_its_leader_left(tmp_path):
    with Undo() as undo:
        command = ["sh", "-c", f"sleep 60 & echo $! > {tmp_path}/pid; exit 0"]
        leader = subprocess.Popen(command, start_new_session=True)
        undo.note("kill group", leader.pid)
        os.waitid(os.P_PID, leader.pid, os.WEXITED | os.WNOWAIT)
        left = int((tmp_path / "pid").read_text())
        os.kill(left, 0)
    leader.wait()
    wait_until(lambda: not alive(left))
    assert undo.failures == ()


def test_what_was_to_be_mounted_and_was_not_is_no_failure(tmp_path):
    with Undo() as undo:
        undo.note("unmount", str(tmp_path))
    assert undo.failures == ()


def test_a_directory_is_emptied_though_someone_still_writes_there(tmp_path):
    (directory := tmp_path / "own").mkdir()
    (directory / "below").mkdir()
    (directory / "below" / "file").touch()
    with Undo() as undo:
        held = os.open(directory, os.O_RDONLY)
        undo.note("empty", directory=held)
        os.close(held)  # the guard has its own
        script = "i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo > $1/$i || exit 0; done 2>/dev/null"
        writer = subprocess.Popen(["sh", "-c", script, "sh", str(directory)])
    writer.wait()
    assert undo.failures == ()


def test_a_directory_that_is_held_is_emptied_wherever_its_name_leads(tmp_path):
    for name in ("own", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    with Undo() as undo:
        undo.note("empty", directory=os.open(tmp_path / "own", os.O_RDONLY))
        (tmp_path / "own").rename(tmp_path / "moved")
        (tmp_path / "own").symlink_to("other")
    assert [path.name for path in tmp_path.glob("*/file")] == ["file", "file"]  # of other, and by the link
    assert not list((tmp_path / "moved").iterdir())


def test_a_mount_that_was_noted_but_not_made_is_no_failure(tmp_path):
    with Undo() as undo:
        undo.note("unmount", str(tmp_path))
    assert undo.failures == ()


def test_where_nothing_is_to_be_undone_nothing_is(tmp_path):
    with NoUndo() as undo:
        undo.note("remove", str(tmp_path / "x"))
        (tmp_path / "x").touch()
    assert (tmp_path / "x").exists()
    assert undo.failures == ()


def test_a_directory_that_the_guard_cannot_hold_is_not_changed(tmp_path):
    with Undo() as undo:
        with pytest.raises(WblabError, match="nothing more is changed"):
            undo.note("empty", directory=10**6)
        undo.note("remove", str(tmp_path / "x"))
        (tmp_path / "x").touch()
    assert undo.failures == ()
    assert not (tmp_path / "x").exists()
