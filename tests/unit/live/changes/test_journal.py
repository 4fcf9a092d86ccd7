import json
import os
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wblab.core.errors import WblabError
from wblab.live.changes import journal as journals
from wblab.live.changes import permitted
from wblab.live.changes.journal import Journal, changing
from wblab.live.changes.permitted import GROUP, MITIGATE
from wblab.machine.changes import (
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
)

ROOT = Path("/sys/fs/cgroup/made-up")
numbers = st.integers(0, 2**15)
tasks = {"pid": st.integers(1, 2**22 - 1), "session": st.integers(0, 2**22 - 1), "start_ticks": st.integers(0, 2**62)}
words = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), max_size=30)
names = words.filter(lambda name: name not in ("", ".", ".."))
changes = st.one_of(
    st.builds(IoPriority, tid=tasks["pid"], old=numbers, new=numbers, **tasks),
    st.builds(Membership, old=names.map(lambda name: str(ROOT / name)), new=st.just(str(ROOT / GROUP)), **tasks),
    st.builds(lambda new, back: setting("/proc/sys/vm/dirty_bytes", str(new), str(back)), numbers, numbers),
    st.builds(lambda new, back: setting("/sys/block/sda/queue/nr_requests", str(new), str(back)), numbers, numbers),
    st.builds(lambda new, back: setting("/sys/class/bdi/8:0/max_ratio_fine", str(new), str(back)), numbers, numbers),
    st.just(Controller(path=str(ROOT), name="io")),
    st.just(MadeGroup(path=str(ROOT / GROUP))),
)


journal_at = partial(Journal, verb=MITIGATE, root=lambda: ROOT)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(changes, min_size=1))
def test_entries_are_read_back(tmp_path_factory, changes):
    path = tmp_path_factory.mktemp("state") / "mitigate.json"
    journal_at(path).note(*changes)
    assert journal_at(path).changes == changes


def setting(path, new, back):
    return Setting(path=str(path), new=new, back_path=str(path), back=back)


def test_the_next_daemon_undoes_what_a_killed_one_left(tmp_path, monkeypatch):
    monkeypatch.setattr(permitted, "DISKS", tmp_path)
    file = tmp_path / "sda/queue/nr_requests"
    file.parent.mkdir(parents=True)
    file.write_text("3\n")
    journal = journal_at(tmp_path / "mitigate.json")
    journal.note(setting(file, "2", "1"))
    journal.note(setting(file, "3", "2"))
    assert journal_at(tmp_path / "mitigate.json").undo(journal.changes) == []
    assert file.read_text() == "1"
    assert not (tmp_path / "mitigate.json").exists()


def test_what_a_kill_left_half_written_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(journals, "require_root", lambda why: None)
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (tmp_path / "victim").write_text("precious")
    (state / ".mitigate.json.0123456789abcdef.partial").write_text('{"boot":')
    (state / ".mitigate.json.link.partial").symlink_to(tmp_path / "victim")
    (state / "mitigate.json.partial").touch()  # somebody's own
    with changing(MITIGATE, state) as journal:
        assert journal.changes == []
    assert sorted(os.listdir(state)) == ["mitigate.json.partial", "mitigate.lock"]
    assert (tmp_path / "victim").read_text() == "precious"


def test_the_journal_is_void_after_a_reboot(tmp_path):
    path = tmp_path / "mitigate.json"
    journal_at(path).note(MadeGroup(path=str(ROOT / GROUP)))
    path.write_text(path.read_text().replace(Path("/proc/sys/kernel/random/boot_id").read_text().strip(), "other"))
    assert journal_at(path).changes == []


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        json.dumps({"changes": []}),
        "\0",
        DEEP,
        '{"boot": "x", "changes": 7}',
        '{"a":' * 9999,
        "\udcff",
    ],
)
def test_a_broken_journal_is_set_aside_with_a_message(tmp_path, text):
    path = tmp_path / "mitigate.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    journal = journal_at(path)
    assert journal.changes == []
    assert journal.ignored.startswith(f"the journal, now {tmp_path}/mitigate.ignored: ")
    assert os.listdir(tmp_path) == ["mitigate.ignored"]
    journal.note(MadeGroup(path=str(ROOT / GROUP)))
    assert journal_at(path).ignored == ""


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/etc/passwd", path)])
def test_links_and_fifos_are_neither_followed_nor_awaited(tmp_path, make):
    make(tmp_path / "mitigate.json")
    journal = journal_at(tmp_path / "mitigate.json")
    assert (journal.changes, os.listdir(tmp_path)) == ([], ["mitigate.ignored"])
    assert "\n" not in journal.ignored


def hostile():
    """Changes that no daemon makes, which would change something else."""
    task = {"pid": 9, "session": 9, "start_ticks": 9}
    yield from (setting(path, "1", "0") for path in ("/etc/passwd", "/sys/block/../x/queue/nr_requests", "", "\0"))
    yield from (setting(f"/sys/class/bdi/{name}", "1", "0") for name in ("../x/strict_limit", "8:0/read_ahead_kb"))
    yield setting("/sys/block/sda/queue/nr_requests", "x", "y")
    yield Setting(path="/proc/sys/vm/dirty_bytes", new="1", back_path="/proc/sys/kernel/core_pattern", back="1")
    yield Setting(path="/proc/sys/vm/dirty_bytes", new="1", back_path="/proc/sys/vm/dirty_background_ratio", back="1")
    yield Setting(path="/sys/block/a/queue/nr_requests", new="1", back_path="/sys/block/b/queue/nr_requests", back="1")
    yield from (Membership(old=old, new=str(ROOT / GROUP), **task) for old in ("/etc", str(ROOT / "../.."), "\0", ""))
    yield Membership(old=str(ROOT), new="/etc", **task)
    yield Membership(old=str(ROOT), new=str(ROOT / GROUP), **task | {"pid": 2**40})
    yield from (MadeGroup(path=path) for path in ("/etc", str(ROOT), "\0"))
    yield from (Controller(path=path, name=name) for path, name in (("/etc", "io"), (str(ROOT), "io +memory")))
    yield from (IoPriority(tid=tid, old=0, new=0, **task) for tid in (-1, 2**62))
    yield IoPriority(tid=1, old=2**40, new=0, **task)
    yield from (ProcessGroup(leader=1), Scheduler(disk="/sys/block/sda", old="none"), Mount(path="/"))
    yield from (Directory(path="/etc"), Directory(path="etc", held=0), DirectoryContents(held=0))


@pytest.mark.parametrize("change", list(hostile()))
def test_changes_that_no_daemon_makes_are_not_undone(tmp_path, change):
    path = tmp_path / "mitigate.json"
    ours = MadeGroup(path=str(ROOT / GROUP))
    journal_at(path).note(change, ours)
    journal = journal_at(path)
    assert journal.changes == [ours]
    assert journal.ignored == f"1 entries of the journal {path} that a daemon cannot have written"


def test_an_invalid_change_is_reported(tmp_path):
    path, rows = tmp_path / "mitigate.json", [None, {"kind": "troup"}, {"kind": "group", "path": 3}]
    path.write_text(json.dumps({"boot": Path("/proc/sys/kernel/random/boot_id").read_text().strip(), "changes": rows}))
    assert journal_at(path).changes == []
    assert journal_at(path).ignored.startswith("3 entries")


def test_without_a_journal_nothing_is_changed(tmp_path):
    with pytest.raises(WblabError, match="nothing was changed"):
        journal_at(tmp_path / "no" / "mitigate.json").note(MadeGroup(path=str(ROOT / GROUP)))
