"""Another user's folders and sets of lessons: none that was found is used, and no link leads out of them."""

import json
import os
import shutil
from pathlib import Path

import pytest
from support import swapped
from support.swapped import NOBODY, state

from wblab.cli import main
from wblab.core.errors import InputError
from wblab.lessons.folder import PROGRESS, Folder, LessonState
from wblab.lessons.lesson import EXTRA, TEMPLATE, TEXT, lessons, read_lesson
from wblab.lessons.student import Student
from wblab.lessons.whereabouts import folder_here, place_in

SECRET = "a private key\n"


@pytest.fixture
def strangers(tmp_path):
    """Return a stranger's set of lessons, whose further file is a link to a secret, and a folder that names it."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text(SECRET)
    lesson = shutil.copytree(TEMPLATE, tmp_path / "set" / "01-mine")
    (lesson / EXTRA).mkdir(exist_ok=True)
    (lesson / EXTRA / "notes.txt").symlink_to(secret / "key")
    folder = Folder(tmp_path / "place")
    folder.keep(LessonState("eve", set=str(tmp_path / "set")))
    return tmp_path


def taken(place: Path) -> list[str]:
    """Return the files below a place that have the secret in them."""
    files = (path for path in place.rglob("*") if path.is_file() and not path.is_symlink())
    return [str(path) for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    "verb",
    [
        ["start", "1"],
        ["start", "--list"],
        ["check"],
        ["start", "--next"],
        ["start", "--anew"],
        ["hint"],
        ["show", "--page"],
        [],
    ],
)
@pytest.mark.parametrize("spoilt", ["folder", "file"])
def test_a_folder_that_others_can_change_is_not_found(strangers, verb, spoilt, monkeypatch, capsys):
    place = strangers / "place"
    (within := place / "deeper" / "still").mkdir(parents=True)
    (place if spoilt == "folder" else place / PROGRESS).chmod(0o777)
    monkeypatch.chdir(within)
    before = state(strangers)
    assert main(["lesson", *verb]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"wblab: other users may write to {place if spoilt == 'folder' else place / PROGRESS}: ")
    assert "name them: --dir ../.." in said
    assert said.count("\n") == 1
    assert state(strangers) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user: run the tests as root")
@pytest.mark.parametrize("name", ["place", "place/my-lessons"])
def test_another_user_s_folder_is_not_found(strangers, name, monkeypatch, capsys):
    place = strangers / "place"
    if name != "place":  # the default one in this directory
        (place / "my-lessons").mkdir()
        (place / PROGRESS).rename(place / "my-lessons" / PROGRESS)
    for path in (strangers / name, strangers / name / PROGRESS):
        os.chown(path, NOBODY, NOBODY)
    monkeypatch.chdir(place)
    before = state(strangers)
    assert main(["lesson", "start", "1"]) == 2
    assert f"{strangers / name} belongs to user {NOBODY}: " in capsys.readouterr().err
    assert state(strangers) == before
    monkeypatch.setenv("SUDO_UID", str(NOBODY))  # who called sudo owns it
    assert folder_here().state().student == "eve"
    monkeypatch.delenv("SUDO_UID")
    assert main(["lesson", "start", "--list", "--dir", str(strangers / name)]) == 0  # named, not found


def test_a_link_in_the_place_of_the_state_is_not_found(strangers, monkeypatch, capsys):
    place = strangers / "place"
    (place / PROGRESS).rename(strangers / PROGRESS)
    (place / PROGRESS).symlink_to(strangers / PROGRESS)
    monkeypatch.chdir(place)
    assert main(["lesson", "start", "--list"]) == 2
    assert f"{place / PROGRESS} is a link" in capsys.readouterr().err


def test_no_link_of_a_set_is_followed_and_a_lesson_is_begun_whole_or_not(strangers, capsys):
    place, lesson = strangers / "place", strangers / "set" / "01-mine"
    secret = strangers / "secret"
    start = ["lesson", "start", "1", "--dir", str(place)]

    def refused() -> None:
        assert main(start) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "not followed" in said
        assert [path.name for path in place.iterdir()] == [PROGRESS]

    refused()  # a file
    (lesson / EXTRA / "notes.txt").unlink()
    (lesson / EXTRA / "more").symlink_to(secret)
    refused()  # a directory in it
    shutil.rmtree(lesson / EXTRA)
    (lesson / EXTRA).symlink_to(secret)
    refused()  # the directory itself
    (lesson / EXTRA).unlink()
    (lesson / TEXT).rename(secret / TEXT)
    (lesson / TEXT).symlink_to(secret / TEXT)
    refused()  # a text
    (lesson / TEXT).unlink()
    (secret / TEXT).rename(lesson / TEXT)
    lesson.rename(strangers / "elsewhere")
    lesson.symlink_to(strangers / "elsewhere")
    refused()  # the lesson
    lesson.unlink()
    (strangers / "elsewhere").rename(lesson)
    assert main(start) == 0
    assert taken(place) == []


def test_a_set_is_bounded(strangers):
    lesson = strangers / "set" / "01-mine"
    (lesson / EXTRA / "notes.txt").unlink()
    (lesson / EXTRA / "large").write_bytes(b"x" * ((1 << 20) + 1))
    student = Student("ada")
    with pytest.raises(InputError, match="longer than 1 MiB"):
        Folder(strangers / "place").start(read_lesson(lesson), student)
    for number in range(101):
        (lesson / EXTRA / f"{number}").touch()
    with pytest.raises(InputError, match="more than 100 files"):
        Folder(strangers / "place").start(read_lesson(lesson), student)


def test_nothing_is_written_outside_a_folder_whose_owner_swaps_names(monkeypatch):
    first = lessons()[0]
    bait = [first.name, "lesson.md", "answer.toml", "spec.toml", PROGRESS, "lesson.html"]
    with swapped.areas(("place", "place/mine"), bait) as areas:
        (areas / "roots" / "mine").mkdir()
        folder = Folder(areas / "theirs" / "place" / "mine")
        folder.keep(LessonState("eve", current=first.name))
        before, begun, failed = state(areas / "roots"), 0, 0
        with swapped.swapping(areas, ("place/mine", "place", "."), ("place",)):
            for _ in range(150):
                try:
                    folder.start(first, Student("eve"))
                    folder.edit(first, "answer.toml", lambda text: text + "# more\n")
                    place_in(folder, "1").keep(digest="d")
                    folder.put(first, "lesson.html", "page")
                    folder.reset(first, Student("eve"))
                    begun += 1
                except InputError:
                    failed += 1
        assert state(areas / "roots") == before
        assert failed, begun  # else nothing was attacked


def test_a_copied_state_names_the_stranger_in_words(strangers, monkeypatch, capsys):
    place = strangers / "place"
    (place / PROGRESS).write_text(json.dumps({"format": 9}))
    monkeypatch.chdir(place)
    assert main(["lesson", "start", "--list"]) == 2
    said = capsys.readouterr().err
    assert "/proc/" not in said
    assert "progress.json has format 9" in said
