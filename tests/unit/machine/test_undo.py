import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from support.waiting import wait_until

from wblab.core.errors import WblabError
from wblab.lab.places import ROOT
from wblab.machine.changes import Directory, DirectoryContents, Setting
from wblab.machine.undo import NoUndo, Undo

HOLDER = """
import sys, time
from pathlib import Path
from wblab.machine.changes import Directory
from wblab.machine.undo import NoUndo, Undo
with Undo() as undo:
    for number in range(int(sys.argv[2])):
        directory = Path(sys.argv[1], str(number))
        undo.note(Directory(path=str(directory)))
        directory.mkdir()
        print(number, flush=True)
    time.sleep(60)
"""


def test_steps_are_undone_in_reverse_order_at_the_end(tmp_path):
    with Undo() as undo:
        for name in ("outer", "outer/inner"):
            undo.note(Directory(path=str(tmp_path / name)))
            (tmp_path / name).mkdir()
        assert (tmp_path / "outer" / "inner").is_dir()
    assert not list(tmp_path.iterdir())
    assert undo.failures == ()


def test_steps_are_undone_after_an_error(tmp_path):
    (file := tmp_path / "setting").write_text("old")
    with suppress(ZeroDivisionError), Undo() as undo:
        undo.note(Setting(path=str(file), new="new", back_path=str(file), back=file.read_text()))
        file.write_text("new")
        raise ZeroDivisionError
    assert file.read_text() == "old"


def test_a_failed_undo_is_reported(tmp_path):
    wrong = str(tmp_path)
    with Undo() as undo:
        undo.note(Setting(path=wrong, new="2", back_path=wrong, back="1"))
    assert undo.failures == (f"cannot undo setting {wrong} 2 {wrong} 1: Is a directory",)


def test_nothing_is_noted_without_the_guard(tmp_path):
    with Undo() as undo:
        assert undo._guard is not None
        undo._guard.kill()
        undo._guard.wait()
        with pytest.raises(WblabError, match="no more changes are made"):
            undo.note(Directory(path=str(tmp_path / "x")))
    assert "may remain" in undo.failures[-1]


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
        undo.note(Directory(path=str(tmp_path / "x")))
        (tmp_path / "x").mkdir()
    assert not (tmp_path / "x").exists()


def test_an_open_directory_is_emptied_wherever_its_name_points(tmp_path):
    for name in ("own", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    with Undo() as undo:
        undo.note(DirectoryContents(held=os.open(tmp_path / "own", os.O_RDONLY)))
        (tmp_path / "own").rename(tmp_path / "moved")
        (tmp_path / "own").symlink_to("other")
    assert [path.name for path in tmp_path.glob("*/file")] == ["file", "file"]  # of other, and by the link
    assert not list((tmp_path / "moved").iterdir())


def test_without_changes_nothing_is_undone(tmp_path):
    with NoUndo() as undo:
        undo.note(Directory(path=str(tmp_path / "x")))
        (tmp_path / "x").mkdir()
    assert (tmp_path / "x").exists()
    assert undo.failures == ()


def test_a_directory_that_the_guard_cannot_open_is_not_changed(tmp_path):
    with Undo() as undo:
        with pytest.raises(WblabError, match="no more changes are made"):
            undo.note(DirectoryContents(held=10**6))
        undo.note(Directory(path=str(tmp_path / "x")))
        (tmp_path / "x").mkdir()
    assert undo.failures == ()
    assert not (tmp_path / "x").exists()


PARENT = """
import os, time
from wblab.core.child import fork_child
from wblab.machine.processes import end_with
me = os.getpid()
def task():
    end_with(me)
    print(os.getpid(), flush=True)
    time.sleep(60)
fork_child(task)
time.sleep(60)
"""


def test_a_child_ends_with_its_parent_even_after_a_kill():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not Path(f"/proc/{child}").exists())
