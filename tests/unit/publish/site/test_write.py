"""A site replaces an earlier one, and nothing else."""

import os
import signal

import pytest

from wblab.core.child import fork_child
from wblab.core.errors import InputError, WblabError
from wblab.publish.site.page import File
from wblab.publish.site.write import MARK, write

ONE = [File("index.html", b"one"), File("runs/a.html", b"a")]


def held(path):
    return sorted(each.relative_to(path).as_posix() for each in path.rglob("*") if each.is_file())


def test_a_site_is_written_and_replaced(tmp_path):
    out = tmp_path / "site"
    assert write(out, ONE) == 2
    assert write(out, [File("index.html", b"two")]) == 1
    assert held(out) == ["index.html", MARK]
    assert held(tmp_path) == ["site/index.html", f"site/{MARK}"]  # nothing is left beside it
    assert out.stat().st_mode & 0o777 == 0o755


def test_what_a_killed_process_left_is_removed_and_no_other_s_work(tmp_path):
    read, written = os.pipe()

    def work():
        for number in range(2):
            yield File(f"{number}.html", b"x")
            os.write(written, b"x")
            signal.pause()

    pid = fork_child(lambda: write(tmp_path / "site", work()))
    os.read(read, 1)
    (there,) = tmp_path.iterdir()
    write(tmp_path / "site", ONE)  # while the other one is still at it
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["site", there.name])
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    write(tmp_path / "site", ONE)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    os.close(read)
    os.close(written)


def test_an_empty_directory_is_a_place(tmp_path):
    assert write(tmp_path / "site", ONE) == write(tmp_path / "site", ONE)
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty", ONE)


def test_other_files_are_not_touched(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("years")
    with pytest.raises(InputError, match="holds other files and no site"):
        write(tmp_path / "mine", ONE)
    assert (tmp_path / "mine/thesis.tex").read_text() == "years"


def test_a_file_added_to_a_site_is_not_lost(tmp_path):
    write(tmp_path / "site", ONE)
    (tmp_path / "site/runs/notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"runs/notes\.txt, which is not of the site"):
        write(tmp_path / "site", ONE)
    assert (tmp_path / "site/runs/notes.txt").read_text() == "mine"


@pytest.mark.parametrize("mark", ["{}", "no JSON", '{"format": 1, "kind": "site", "files": 5}', '{"format": 9}'])
def test_a_strange_mark_is_no_site(tmp_path, mark):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / MARK).write_text(mark)
    with pytest.raises(InputError):
        write(tmp_path / "site", ONE)


def test_a_link_and_a_file_are_no_places(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with pytest.raises(InputError, match="not a directory"):
            write(tmp_path / name, ONE)
    with pytest.raises(InputError, match="make it first"):
        write(tmp_path / "no/where", ONE)


def test_a_failure_keeps_the_earlier_site(tmp_path):
    def failing():
        yield ONE[0]
        raise InputError("a damaged run")

    write(tmp_path / "site", ONE)
    with pytest.raises(InputError, match="a damaged run"):
        write(tmp_path / "site", failing())
    with pytest.raises(WblabError, match="two pages"):
        write(tmp_path / "site", [ONE[0], ONE[0]])
    assert held(tmp_path) == ["site/index.html", "site/runs/a.html", f"site/{MARK}"]
