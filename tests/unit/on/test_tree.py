"""The directory that goes with a program: what lies in it may be anybody's, and nothing outside of it goes along."""

import errno
import os
import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

from wblab.core.errors import InputError
from wblab.on.order import Order, read_order
from wblab.on.tree import check_place, hand_over, tree_of

MOST = 64 << 20


@pytest.fixture
def project(tmp_path):
    place = tmp_path / "project"
    (place / "src").mkdir(parents=True)
    (place / "src" / "a.py").write_text("print(1)\n")
    (place / "secret").symlink_to("/etc/shadow")
    os.mkfifo(place / "pipe")
    return place


def of(place, *, tracked=False, most=MOST, results=Path("/nowhere")):
    return tree_of(place, tracked=tracked, prefix=None, most=most, results=results)


def archived(place, at, **options):
    """The members of the archive, by name, and the order."""
    at.mkdir()
    order = hand_over(Order(argv=("x",), directory=str(place)), of(place, **options), None, at)
    with tarfile.open(at / order.tree) as archive:
        return {item.name: item for item in archive}, order


def git(place, *words):
    subprocess.run(["git", "-C", str(place), *words], check=True, capture_output=True)


def test_files_links_and_directories_go_along_and_a_link_stays_a_link(project, tmp_path):
    found, order = archived(project, tmp_path / "handed")
    assert list(found) == ["secret", "src", "src/a.py"]  # no pipe
    assert found["secret"].issym()
    assert {item.uid for item in found.values()} == {0}
    assert read_order((tmp_path / "handed" / "order.json").read_text()) == order


def test_the_same_files_are_the_same_archive(project, tmp_path):
    for name in ("one", "two"):
        archived(project, tmp_path / name)
    assert sorted(os.listdir(tmp_path / "one")) == sorted(os.listdir(tmp_path / "two"))


def test_runs_of_the_lab_stay_here(project):
    before = of(project)
    for name in ("exp/run", "exp/.handed.x.work"):
        (project / name).mkdir(parents=True)
    for name in ("experiment.json", "console.log", "trace.dat"):
        (project / "exp" / "run" / name).touch()
    assert of(project, results=project / "exp") == before
    assert "exp/run/trace.dat" not in of(project).names


def test_names_of_any_bytes_go_along(project, tmp_path):
    names = [b"new\nline", b"not \xff UTF-8", b"-rf", b"\x1b[31mred", b"x" * 255]
    for name in names:
        (project / os.fsdecode(name)).touch()
    found, _ = archived(project, tmp_path / "handed")
    assert {os.fsdecode(name) for name in names} <= set(found)
    git(project, "init", "-q")
    git(project, "add", ".")
    assert {os.fsdecode(name) for name in names} <= set(of(project, tracked=True).names)


def test_a_files_second_name_is_one_and_a_mode_stays(project, tmp_path):
    os.link(project / "src" / "a.py", project / "src" / "b.py")
    (project / "run").touch(mode=0o755)
    found, _ = archived(project, tmp_path / "handed")
    assert (found["src/b.py"].islnk(), found["src/b.py"].linkname) == (True, "src/a.py")
    assert stat.S_IMODE(found["run"].mode) == 0o755


def test_the_guests_clock_begins_after_the_newest_file(project, tmp_path):
    os.utime(project / "src" / "a.py", (4_000_000_000, 4_000_000_000))
    assert archived(project, tmp_path / "handed")[1].clock_s == 4_000_000_001


def test_only_what_git_tracks_and_nothing_behind_a_link_that_replaced_a_directory(project, tmp_path):
    with pytest.raises(InputError, match="is in no git repository"):
        of(project, tracked=True)
    git(project, "init", "-q")
    git(project, "add", "src")
    assert of(project, tracked=True).names == ("src/a.py",)
    (project / "src").rename(tmp_path / "elsewhere")
    assert of(project, tracked=True).names == ()
    (project / "src").symlink_to(tmp_path / "elsewhere")
    assert of(project, tracked=True).names == ()


def test_what_is_too_much_for_the_disk_is_not_walked_to_its_end(project):
    with (project / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="more than half of the disk: raise --size"):
        of(project)
    (project / "sparse").unlink()
    for number in range(100):
        (project / str(number)).touch()
    with pytest.raises(InputError, match="with 17 files, more than half of the disk"):
        of(project, most=16 * 4096)


def test_what_cannot_be_read_is_named(project, tmp_path, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(tarfile.TarFile, "addfile", lambda _, item, *__: refuse(item.name))
    with pytest.raises(InputError, match=r"cannot read secret: Permission denied: --tracked"):
        archived(project, tmp_path / "handed")
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match=r"cannot read .*/project: Permission denied: --tracked"):
        of(project)


def test_a_path_that_is_longer_than_the_system_takes_is_refused_in_a_short_line(project, monkeypatch):
    monkeypatch.chdir(project)
    for _ in range(100):
        os.mkdir("d" * 50)
        os.chdir("d" * 50)
    with pytest.raises(InputError, match="…: File name too long: --tracked") as refused:
        of(project)
    assert len(str(refused.value)) < 600
    monkeypatch.chdir(project)
    shutil.rmtree("d" * 50)  # pytest would stumble over it


@pytest.mark.parametrize(
    "directory",
    ["/", "/usr", "/dev", "/dev/pts", "/proc", "/proc/self", "/run", "/mnt", "/mnt/disk", "/var", "/var/tmp"],
)
def test_a_directory_that_a_guest_needs_is_no_place_for_another_one(directory):
    with pytest.raises(InputError, match="give a directory with the program's files alone"):
        check_place(Path(directory))


@pytest.mark.parametrize("directory", ["/tmp", "/tmp/x", "/dev/shm/x", "/usr/src/x", "/mnt/disk/x", "/run/user/1000/x"])
def test_other_places_are_fine(directory):
    check_place(Path(directory))
