"""A remedy is set, read back and undone in the files of a synthetic machine."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.advised import FILES, SITE, advice_for

from wblab.core.errors import InputError, WblabError
from wblab.lab.places import ROOT
from wblab.live.advise import machinesite as sites
from wblab.live.advise.apply import apply, undo
from wblab.live.advise.settings import WantedSetting
from wblab.live.changes import journal as journals
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import ADVISE, MITIGATE
from wblab.machine.changes import Setting

REQUIRE_ROOT = journals.require_root
LIMITS = (
    WantedSetting("sysctl", "vm.dirty_background_bytes", "1000"),
    WantedSetting("sysctl", "vm.dirty_bytes", "2000"),
)
SHORT = WantedSetting("queue", "nr_requests", "4")
BFQ = (WantedSetting("queue", "scheduler", "bfq"), WantedSetting("queue", "nr_requests", "256"))
OWN = (WantedSetting("bdi", "max_ratio_fine", "50000"), WantedSetting("bdi", "strict_limit", "1"))


@pytest.fixture(autouse=True)
def made_up(tree, monkeypatch):
    monkeypatch.setattr(journals, "require_root", lambda why: None)


def contents(tree):
    return {str(path.relative_to(tree)): path.read_text().strip() for path in tree.rglob("*") if path.is_file()}


def applied(state, *wanted):
    advice = advice_for(*wanted)
    return apply(advice.candidate("it"), advice, state)


def test_settings_are_read_back_and_undone(tree, tmp_path):
    undone, found = applied(tmp_path, *LIMITS, SHORT, *OWN)
    assert undone == []
    assert [(Path(item.path).name, Path(item.old_path).name, item.old, item.found) for item in found] == [
        ("dirty_background_bytes", "dirty_background_ratio", "10", "1000"),
        ("dirty_bytes", "dirty_ratio", "20", "2000"),
        ("nr_requests", "nr_requests", "256", "4"),
        ("max_ratio_fine", "max_ratio_fine", "1000000", "50000"),
        ("strict_limit", "strict_limit", "0", "1"),
    ]
    assert all(item.is_as_asked for item in found)
    assert str(found[1]) == f"{tree}/vm/dirty_bytes: 2000 (was dirty_ratio 20)"
    assert undo(tmp_path)[0] == f"{tree}/class/bdi/8:0/strict_limit: restored to 0"
    after = contents(tree)
    for name in ("vm/dirty_bytes", "vm/dirty_background_bytes"):  # the kernel makes them 0 with the ratio
        assert after.pop(name) in ("1000", "2000")
    assert after == {name: text for name, text in FILES.items() if name in after}
    assert undo(tmp_path) == []


def test_a_limit_in_bytes_is_restored(tree, tmp_path):
    (tree / "vm/dirty_bytes").write_text("5000\n")
    applied(tmp_path, LIMITS[1])
    undo(tmp_path)
    assert (tree / "vm/dirty_bytes").read_text() == "5000"


def test_a_scheduler_is_restored_with_its_queue(tree, tmp_path):
    (tree / "block/sda/queue/nr_requests").write_text("64\n")
    applied(tmp_path, *BFQ)
    undo(tmp_path)
    queue = tree / "block/sda/queue"
    assert [(queue / name).read_text() for name in ("scheduler", "nr_requests")] == ["mq-deadline", "64"]


def test_a_value_changed_by_the_kernel_is_reported_and_undone(tree, tmp_path, monkeypatch):
    write = Path.write_text
    monkeypatch.setattr(Path, "write_text", lambda path, text: write(path, "8" if text == "4" else text))
    _, found = applied(tmp_path, SHORT)
    assert (found[0].found, found[0].is_as_asked) == ("8", False)
    assert str(found[0]).endswith("nr_requests: 8 (was 256): the kernel chose this instead of 4")
    monkeypatch.undo()


def test_the_number_and_the_size_of_requests_are_set_and_undone_with_a_scheduler(tree, tmp_path):
    """A new scheduler has a queue of another length, and the same size of requests."""
    smaller = WantedSetting("queue", "max_sectors_kb", "128")
    _, found = applied(tmp_path, BFQ[0], SHORT, smaller)
    assert [(item.old, item.found) for item in found] == [("mq-deadline", "bfq"), ("256", "4"), ("1280", "128")]
    undo(tmp_path)
    queue = tree / "block/sda/queue"
    names = ("scheduler", "nr_requests", "max_sectors_kb")
    assert [(queue / name).read_text().strip() for name in names] == ["mq-deadline", "256", "1280"]


def test_another_remedy_replaces_the_first(tree, tmp_path):
    applied(tmp_path, SHORT)
    undone, _ = applied(tmp_path, *OWN)
    assert undone == [f"{tree}/block/sda/queue/nr_requests: restored to 256"]
    assert (tree / "block/sda/queue/nr_requests").read_text() == "256"


def test_a_remedy_for_another_disk_stays(tree, tmp_path):
    other = tree / "block/sdb/queue/nr_requests"
    other.parent.mkdir(parents=True)
    other.write_text("4")
    settings = [Setting(path=str(path), new="4", back_path=str(path), back="64") for path in (other,)]
    Journal(tmp_path / "advise.json", ADVISE).note(*settings)
    for wanted in (SHORT, LIMITS[1]):  # each replaces what is of the same disk, or of all
        applied(tmp_path, wanted)
        assert other.read_text() == "4"
    undone = undo(tmp_path)
    assert f"{other}: restored to 64" in undone
    assert (other.read_text(), undo(tmp_path)) == ("64", [])


def test_settings_changed_by_others_are_left_alone(tree, tmp_path):
    applied(tmp_path, SHORT)
    (tree / "block/sda/queue/nr_requests").write_text("32\n")
    assert undo(tmp_path) == [f"{tree}/block/sda/queue/nr_requests: not restored, because it has been changed since"]
    assert (tree / "block/sda/queue/nr_requests").read_text() == "32\n"


def test_a_failed_setting_undoes_all(tree, tmp_path):
    (tree / "class/bdi/8:0/strict_limit").unlink()
    (tree / "class/bdi/8:0/strict_limit").mkdir()
    with pytest.raises(WblabError, match=r"cannot set it: .*strict_limit: Is a directory: nothing was changed"):
        applied(tmp_path, SHORT, *OWN)
    assert (tree / "block/sda/queue/nr_requests").read_text() == "256"
    assert undo(tmp_path) == []


@pytest.mark.parametrize("writes", range(6))
def test_a_kill_at_any_write_is_undone_later(tree, tmp_path, writes):
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(ROOT / "tests")!r})
from pathlib import Path
from support.advised import SITE, advice_for
from wblab.live.advise import apply as applying
from wblab.live.advise import machinesite
from wblab.live.advise.settings import WantedSetting
from wblab.live.changes import journal, permitted
tree = Path(sys.argv[1])
permitted.SYSCTLS, permitted.DISKS, permitted.BDIS = tree, tree / "block", tree / "class/bdi"
machinesite.find_site = lambda directory: SITE
journal.require_root = lambda why: None
write, done = Path.write_text, []
def killing(path, text):
    if len(done) == {writes}:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(path)
    write(path, text)
Path.write_text = killing
advice = advice_for({", ".join(map(repr, (*LIMITS, SHORT, *OWN)))})
applying.apply(advice.candidate("it"), advice, Path(sys.argv[2]))
"""
    ended = subprocess.run([sys.executable, "-c", code, tree, tmp_path], cwd=ROOT, check=False)
    assert ended.returncode == (-9 if writes < 5 else 0)
    undo(tmp_path)
    after = contents(tree)
    for name in ("vm/dirty_bytes", "vm/dirty_background_bytes"):  # the kernel makes them 0 with the ratio
        after.pop(name)
    assert after == {name: text for name, text in FILES.items() if name in after}


def test_nothing_is_changed_while_the_daemon_runs(tree, tmp_path):
    Journal(tmp_path / "mitigate.json", MITIGATE).note(
        Setting(path=(at := f"{tree}/block/sda/queue/nr_requests"), new="4", back_path=at, back="256")
    )
    with pytest.raises(WblabError, match="settings of wblab mitigate are in force"):
        applied(tmp_path, SHORT)
    assert contents(tree) == FILES


def test_the_journal_of_an_earlier_version_is_undone(tree, tmp_path):
    at, boot = f"{tree}/block/sda", Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    (tmp_path / "advise.json").write_text(
        f"""{{"boot": "{boot}", "changes": [
            {{"kind": "scheduler", "disk": "{at}", "old": "kyber", "nr_requests": "64", "wbt_lat_usec": ""}},
            {{"kind": "setting", "path": "{at}/queue/nr_requests", "new": "256",
              "back_path": "{at}/queue/nr_requests", "back": "128"}}]}}"""
    )
    assert undo(tmp_path) == [f"{at}/queue/nr_requests: restored to 128", f"{at}/queue/scheduler: restored to kyber"]
    assert [(tree / "block/sda/queue" / name).read_text() for name in ("scheduler", "nr_requests")] == ["kyber", "64"]
    assert not (tmp_path / "advise.json").exists()


@pytest.mark.parametrize("name", ["advise.json", "mitigate.json"])
def test_with_a_broken_journal_nothing_is_changed(tree, tmp_path, name):
    (tmp_path / name).write_text("{")
    with pytest.raises(WblabError, match="nothing was changed: the journal, now"):
        applied(tmp_path, SHORT)
    assert contents(tree) == FILES


def test_a_group_remedy_must_be_installed_as_a_slice(tmp_path):
    with pytest.raises(InputError, match="install its slice"):
        applied(tmp_path, WantedSetting("slice", "MemoryHigh", "1000"))


def test_another_disk_is_not_touched(tree, tmp_path, monkeypatch):
    other = replace(SITE, known_by={"sda": 'ENV{ID_SERIAL}=="other"'})
    monkeypatch.setattr(sites, "find_site", lambda directory: other)
    with pytest.raises(InputError, match="is now on another disk than in the study"):
        applied(tmp_path, SHORT)
    assert contents(tree) == FILES


def test_without_root_nothing_is_changed(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(journals, "require_root", REQUIRE_ROOT)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(WblabError, match="needs root: use sudo"):
        applied(tmp_path, SHORT)
    assert contents(tree) == FILES
