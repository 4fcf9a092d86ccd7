"""The daemon's stored state, changed by an attacker: the daemon starts, and undoes only what a daemon can do."""

import json
import shutil
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from random import Random

import pytest
from support.spoil import change_bytes, change_value, put_in_place

from wblab.core.errors import WblabError
from wblab.live.changes import journal as journals
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import GROUP, MITIGATE
from wblab.live.mitigate.rule import LEAST, MOST, Learned, recall, remember
from wblab.machine.changes import Controller, IoPriority, MadeGroup, Membership, Setting

ROOT = Path("/sys/fs/cgroup/made-up")
_TASK = {"pid": 7, "session": 7, "start_ticks": 12345}
_DIRTY = {"path": "/proc/sys/vm/dirty_bytes", "new": "2", "back_path": "/proc/sys/vm/dirty_ratio", "back": "20"}
_QUEUE = "/sys/block/sda/queue/nr_requests"
CHANGES = [
    MadeGroup(path=str(ROOT / GROUP)),
    Controller(path=str(ROOT), name="io"),
    IoPriority(tid=7, old=0, new=24583, **_TASK),
    Membership(old=str(ROOT / "user.slice"), new=str(ROOT / GROUP), **_TASK),
    Setting(**_DIRTY),
    Setting(path=_QUEUE, new="16", back_path=_QUEUE, back="256"),
]
DISK = "model 1000"
KNOWN = Learned(bandwidth=5e7, cached=True)


@pytest.fixture(autouse=True)
def root(monkeypatch):
    monkeypatch.setattr(journals, "cgroup_root", lambda: ROOT)


def hostile(file: Path, random: Random, outside: Path) -> None:
    """Change a file in one to three ways, or put something in its place."""
    if random.random() < 0.1:
        put_in_place(file, random, outside)
        return
    for _ in range(random.choice((1, 1, 2, 3))):
        try:
            (change_value if random.random() < 0.7 else change_bytes)(file, random)
        except (ValueError, KeyError, RecursionError):  # it was made unreadable before
            change_bytes(file, random)


def read_journal(file: Path) -> None:
    with suppress(WblabError):
        journal = Journal(file, MITIGATE)
        assert all(MITIGATE.can_make(change, ROOT) for change in journal.changes)
        journal.note(CHANGES[0])
        assert Journal(file, MITIGATE).changes == journal.changes


def read_learned(file: Path) -> None:
    known, _ = recall(file)
    assert all(LEAST <= what.bandwidth <= MOST and isinstance(what.cached, bool) for what in known.values())
    remember(file, {DISK: Learned(bandwidth=1e8)})


def attack(seeds: range, place: Path) -> None:
    for seed in seeds:
        room = place / str(seed)
        outside = room / "outside"
        (outside / "folder").mkdir(parents=True)
        (outside / "victim").write_text("precious\n")
        state = room / "state"
        state.mkdir()
        Journal(state / "mitigate.json", MITIGATE).note(*CHANGES)
        (state / "disks.json").write_text(json.dumps({DISK: asdict(KNOWN), "sdb 2": asdict(KNOWN)}))
        file, read = Random(seed).choice(
            ((state / "mitigate.json", read_journal), (state / "disks.json", read_learned))
        )
        hostile(file, Random(seed), outside)
        try:
            read(file)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {file.name}: {type(error).__name__}: {str(error)[:300]}") from error
        assert (outside / "victim").read_text() == "precious\n", seed
        assert sorted(path.name for path in outside.iterdir()) == ["folder", "victim"], seed
        shutil.rmtree(room)


def test_hostile_journals(tmp_path):
    attack(range(200), tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_many_hostile_journals(tmp_path):
    attack(range(10_000, 20_000), tmp_path)
