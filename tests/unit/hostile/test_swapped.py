"""Root's results in another user's directory: nothing outside it is changed, whatever the user replaces names with."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from support import swapped
from support.swapped import state

from wblab.core.errors import WblabError
from wblab.core.status import Message
from wblab.host.process.boot import Ended
from wblab.host.recorded import recorded
from wblab.lab.formats import RUN, RUNS, UML
from wblab.publish.bundle.pack import pack
from wblab.publish.site.page import File
from wblab.publish.site.write import write
from wblab.study.store import Store

ROUNDS = 150
BAIT = ("experiment.json", "console.log", "table.parquet", "study.json", "run.wblab", "index.html", "site.json")


@pytest.fixture
def areas():
    with swapped.areas(("place", "place/exp"), BAIT) as place:
        (place / "roots" / RUNS).mkdir()
        (place / "roots" / "exp").mkdir()
        yield place


def attacked(areas: Path, work) -> None:
    """Work while the owner of the directory swaps names: root's own directory stays as it is."""
    before, done, failed = state(areas / "roots"), 0, 0
    with swapped.swapping(areas, ("place/exp", "place", "."), ("place",)):
        for number in range(ROUNDS):
            try:
                work(number)
                done += 1
            except (WblabError, OSError):
                failed += 1
    assert state(areas / "roots") == before
    assert done + failed == ROUNDS


def test_a_run_stays_in_its_directory(areas):
    def make(staged: Path, record) -> Ended:
        with (staged / "console.log").open("ab") as file:
            file.write(b"booting\n")
        (staged / "left").mkdir()
        (staged / "left" / "a").write_text("a")
        return Ended(Message("loads", 0, {}), 1.0)

    results = areas / "theirs" / "place" / "exp"
    made = recorded(results, "run", RUN.head(UML), make).directory  # undisturbed, it is made
    assert (made / "experiment.json").lstat().st_uid == 0
    attacked(areas, lambda number: recorded(results, "run", RUN.head(UML), make))


def test_a_study_stays_in_its_directory(areas, originals):
    results = areas / "theirs" / "place" / "exp"
    shutil.copytree(originals / "matrix", results / "m")

    def work(number: int) -> None:
        store = Store.open(results / "m")
        with store.held():
            store.room()
            store.failed(*store.plan.runs()[0], "a reason")
            store.settle()

    attacked(areas, work)


def test_a_site_stays_in_its_directory(areas):
    out = areas / "theirs" / "place" / "exp" / "site"
    attacked(areas, lambda number: write(out, [File("index.html", b"1"), File("runs/a.html", b"2")]))


def test_a_bundle_stays_in_its_directory(areas, originals):
    place = areas / "theirs" / "place" / "exp"
    attacked(areas, lambda number: pack(originals / "guest_run", place / "run.wblab"))


def test_a_swapped_directory_is_not_written_to(areas, monkeypatch):
    """The swap that a race would need luck for: between the making of a directory and its first file."""
    results = areas / "theirs" / "place" / "exp"
    before = state(areas / "roots")

    def make(staged: Path, record) -> Ended:
        (made,) = [path for path in results.iterdir() if path.name.startswith("_")]
        made.rename(made.with_name("aside"))
        made.symlink_to(areas / "roots")
        os.lchown(made, swapped.NOBODY, swapped.NOBODY)
        with (staged / "console.log").open("ab") as file:
            file.write(b"booting\n")
        return Ended(Message("loads", 0, {}), 1.0)

    with suppress(WblabError, OSError):
        recorded(results, "run", RUN.head(UML), make)
    assert state(areas / "roots") == before
    assert sorted(os.listdir(results / "aside")) == ["console.log", "experiment.json"]
