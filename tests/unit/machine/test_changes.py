import json
import os
import subprocess
from pathlib import Path

import pytest
from support.processes import alive
from support.waiting import wait_until

from wblab.core.errors import InputError
from wblab.machine.changes import (
    KINDS,
    Controller,
    Directory,
    DirectoryContents,
    IoPriority,
    MadeGroup,
    Membership,
    Mount,
    ProcessGroup,
    Scheduler,
    Setting,
    from_row,
    to_row,
    undo_all,
)

TASK = {"pid": 7, "session": 7, "start_ticks": 12345}
CHANGES = [
    IoPriority(tid=7, old=0, new=24583, **TASK),
    Membership(old="/sys/fs/cgroup/user.slice", new="/sys/fs/cgroup/ours", **TASK),
    Setting(path="/proc/sys/vm/dirty_bytes", new="2", back_path="/proc/sys/vm/dirty_ratio", back="20"),
    Scheduler(disk="/sys/block/sda", old="bfq"),
    Controller(path="/sys/fs/cgroup", name="io"),
    MadeGroup(path="/sys/fs/cgroup/ours"),
    Directory(path="/tmp/\udcff"),
    Directory(path="own", held=5),
    DirectoryContents(held=5),
    Mount(path="/tmp/tracefs"),
    ProcessGroup(leader=7),
]


def setting(path, new, back):
    return Setting(path=str(path), new=new, back_path=str(path), back=back)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_goes_through_a_file_or_a_pipe(change):
    assert from_row(json.loads(json.dumps(to_row(change)))) == change


def test_every_kind_of_change_was_tested():
    assert {change.kind for change in CHANGES} == KINDS.keys()


@pytest.mark.parametrize("row", [None, [], 3, {}, {"kind": []}, {"kind": "troup"}, {"kind": "group", "path": 3}])
def test_invalid_changes_are_refused(row):
    with pytest.raises(InputError):
        from_row(row)


def test_the_last_is_undone_first(tmp_path):
    (file := tmp_path / "file").write_text("3\n")
    assert undo_all([setting(file, "2", "1"), setting(file, "3", "2")]) == []
    assert file.read_text() == "1"


def test_a_failure_is_named_and_the_rest_is_undone(tmp_path):
    (file := tmp_path / "file").write_text("2")
    (wrong := tmp_path / "directory").mkdir()
    failed = undo_all([setting(file, "2", "1"), setting(wrong, "2", "1")])
    assert failed == [f"cannot undo setting {wrong} 2 {wrong} 1: Is a directory"]
    assert file.read_text() == "1"


def test_a_setting_of_a_removed_device_counts_as_undone(tmp_path):
    assert undo_all([setting(tmp_path / "gone", "2", "1")]) == []


def test_a_setting_changed_by_others_is_left_alone(tmp_path):
    (file := tmp_path / "file").write_text("2")
    change = setting(file, "2", "1")
    change.undo()
    assert file.read_text() == "1"
    file.write_text("9")
    change.undo()
    assert file.read_text() == "9"


def test_a_setting_is_restored_through_its_original_file(tmp_path):
    (size := tmp_path / "dirty_bytes").write_text("4096\n")
    (ratio := tmp_path / "dirty_ratio").write_text("0\n")
    Setting(path=str(size), new="4096", back_path=str(ratio), back="20").undo()
    assert (size.read_text(), ratio.read_text()) == ("4096\n", "20")


@pytest.mark.parametrize(("has_bound", "wrote"), [(True, ["63", "64"]), (False, ["64"])])
def test_mq_deadline_s_bound_on_writes_is_restored_with_the_number_of_requests(tmp_path, monkeypatch, has_bound, wrote):
    """Older kernels take the bound from the number before the last change, which was ours: 4."""
    (tmp_path / "iosched").mkdir()
    if has_bound:
        (tmp_path / "iosched/async_depth").write_text("4")
    (file := tmp_path / "nr_requests").write_text("4\n")
    written, write = [], Path.write_text
    monkeypatch.setattr(Path, "write_text", lambda path, text: written.append(text) or write(path, text))
    Setting(path=str(file), new="4", back_path=str(file), back="64").undo()
    assert (written, file.read_text()) == (wrote, "64")


def test_a_scheduler_is_restored_under_any_of_its_names(tmp_path):
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue" / "scheduler").write_text("none [mq-deadline] bfq\n")  # `deadline` was written
    Scheduler(disk=str(tmp_path), old="none").undo()
    assert (tmp_path / "queue" / "scheduler").read_text() == "none"


def test_a_noted_but_unmade_change_is_not_a_failure(tmp_path):
    never = str(tmp_path / "never")
    gone = subprocess.Popen(["true"], start_new_session=True)
    gone.wait()
    task = {"pid": gone.pid, "session": gone.pid, "start_ticks": 1}
    changes = [
        Directory(path=never),
        Mount(path=never),
        Mount(path=str(tmp_path)),
        MadeGroup(path=never),
        ProcessGroup(leader=gone.pid),
        IoPriority(tid=gone.pid, old=0, new=1, **task),
        Membership(old=never, new=never, **task),
    ]
    assert undo_all(changes) == []
    assert os.listdir(tmp_path) == []


def test_a_process_group_is_killed_after_its_leader_has_ended(tmp_path):
    command = ["sh", "-c", f"sleep 60 & echo $! > {tmp_path}/pid; exit 0"]
    leader = subprocess.Popen(command, start_new_session=True)
    os.waitid(os.P_PID, leader.pid, os.WEXITED | os.WNOWAIT)
    left = int((tmp_path / "pid").read_text())
    os.kill(left, 0)
    ProcessGroup(leader=leader.pid).undo()
    leader.wait()
    wait_until(lambda: not alive(left))


def test_a_directory_is_emptied_while_it_is_still_written_to(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").touch()
    script = "i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo > $1/$i || exit 0; done 2>/dev/null"
    writer = subprocess.Popen(["sh", "-c", script, "sh", str(tmp_path)])
    held = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    DirectoryContents(held=held).undo()
    os.close(held)
    assert not (tmp_path / "below").exists()
    writer.wait()
