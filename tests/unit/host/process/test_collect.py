import os
import socket
from pathlib import Path

import pytest

from wblab.core.errors import WblabError
from wblab.host.process.collect import take_over, told
from wblab.lab.specfile import read_spec


@pytest.fixture
def places(tmp_path):
    for name in ("shared", "run", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "home" / ".bashrc").write_text("mine")
    return tmp_path / "shared", tmp_path / "run", tmp_path / "home"


def test_the_files_of_a_run_are_kept(places):
    shared, run, _ = places
    for name in (
        *("load.mw1.npy", "load.mw1.json", "agent.daemon.log"),
        *("trace.dat", "trace.dat.cpu0", "trace-cmd.log", "disks.json", "extents.json"),
    ):
        (shared / name).write_text(name)
    take_over(shared, run)
    assert {path.name: path.read_text() for path in run.iterdir()} == {
        name: name for name in sorted(os.listdir(shared))
    }


@pytest.mark.parametrize(
    "name",
    [
        *("experiment.json", "console.log", "kernel.config", ".experiment.json.partial", "timeline.png", "guest.json"),
        *("load..npy", "load.a b.npy", "load.x.npy ", "load.x.npy\n", "load.\x1b[2J.npy", "load.ü.npy", "x", ".hidden"),
    ],
)
def test_files_with_other_names_are_not_taken_over(places, name):
    shared, run, _ = places
    (shared / name).write_text("planted")
    take_over(shared, run)
    assert os.listdir(run) == []


def test_a_link_is_refused_and_not_followed(places):
    shared, run, home = places
    (shared / "trace.dat").symlink_to(home / ".bashrc")
    with pytest.raises(WblabError, match=r"the guest left 'trace\.dat', which is not a regular file"):
        take_over(shared, run)
    assert os.listdir(run) == []


def test_nothing_is_written_through_a_link_in_the_run_directory(places):
    """A real attack: a link in the run directory, and a file of that name in the scratch directory."""
    shared, run, home = places
    (run / "trace.dat").symlink_to(home / ".bashrc")
    (shared / "trace.dat").write_text("evil")
    with pytest.raises(FileExistsError):
        take_over(shared, run)
    assert (home / ".bashrc").read_text() == "mine"


def test_a_hard_link_to_another_file_is_refused(places):
    shared, run, home = places
    (shared / "trace.dat").hardlink_to(home / ".bashrc")
    with pytest.raises(WblabError, match="not a regular file with one name"):
        take_over(shared, run)
    assert os.listdir(run) == []


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, make_socket])
def test_anything_but_a_file_is_refused_at_once(places, make):
    shared, run, _ = places
    make(shared / "load.x.npy")
    with pytest.raises(WblabError, match="not a regular file"):
        take_over(shared, run)


def test_directories_that_are_links_are_not_followed(places, tmp_path):
    shared, run, home = places
    (tmp_path / "link").symlink_to(home)
    (shared / "trace.dat").write_text("evil")
    with pytest.raises(OSError, match="link"):
        take_over(shared, tmp_path / "link")
    with pytest.raises(OSError, match="link"):
        take_over(tmp_path / "link", run)
    assert os.listdir(home) == [".bashrc"]


def test_the_files_of_commands_are_kept_as_a_tree(places):
    shared, run, _ = places
    (shared / "left" / "a" / "b").mkdir(parents=True)
    (shared / "left" / "a" / "b" / ".file").write_text("x")
    take_over(shared, run)
    assert [str(path.relative_to(run)) for path in run.rglob("*")] == ["left", "left/a", "left/a/b", "left/a/b/.file"]


def test_an_empty_tree_is_not_kept(places):
    shared, run, _ = places
    (shared / "left").mkdir()
    take_over(shared, run)
    assert os.listdir(run) == []


@pytest.mark.parametrize("name", ["left", "left/a"])
def test_no_link_in_the_tree_is_followed(places, name):
    shared, run, home = places
    (shared / name).parent.mkdir(exist_ok=True)
    (shared / name).symlink_to(home)
    with pytest.raises((WblabError, OSError)):
        take_over(shared, run)
    assert not list(run.rglob(".bashrc"))


def test_names_and_depth_of_the_tree_are_limited(places):
    shared, run, _ = places
    (shared / "left").mkdir()
    (shared / "left" / "\x1b[2J").touch()
    with pytest.raises(WblabError, match=r"left '\\x1b\[2J': use only letters"):
        take_over(shared, run)
    (shared / "left" / "\x1b[2J").unlink()
    (run / "left").rmdir()
    shared.joinpath("left", *"a" * 10).mkdir(parents=True)
    with pytest.raises(WblabError, match="more than 8 deep"):
        take_over(shared, run)


def test_file_modes_are_not_taken_over(places):
    shared, run, _ = places
    (shared / "trace.dat").write_text("x")
    (shared / "trace.dat").chmod(0o4777)
    take_over(shared, run)
    assert (run / "trace.dat").stat().st_mode & 0o7111 == 0


CONSOLE = """Checking PROT_EXEC mmap...OK
[    0.000000] Linux version 7.2
[    5.000000] EXT4-fs (ubda): mounted filesystem
hello
ls: cannot access 'x': No such file or directory
Traceback (most recent call last):
  File "/lab/wblab/guest/init.py", line 52, in main
[   11.130000] reboot: Power down
"""
ENDED = "the command of load b1 ended with exit code 3"


@pytest.fixture
def failed(tmp_path):
    (tmp_path / "console.log").write_text(CONSOLE)
    spec = Path("experiments/base-device.toml")

    def said(reason, *argv, **keys):
        load = f"load.b1={{kind='command', wait='1s', argv={list(argv)}}}"
        return told(reason, read_spec(spec, [load]), tmp_path / "console.log", **keys)

    return said


def test_a_command_that_failed_is_quoted(failed):
    assert failed(ENDED, "ls", "x") == f"{ENDED}, and printed: ls: cannot access 'x': No such file or directory"


def test_a_program_that_was_not_found_is_named(failed):
    reason = "the load b1 failed: No such file or directory"
    assert (
        failed(reason, "/usr/bin/none") == "the load b1 failed: cannot start '/usr/bin/none': No such file or directory"
    )


def test_a_file_of_the_host_s_tmp_is_not_the_guest_s(failed, tmp_path):
    (script := tmp_path / "script").touch()
    said = failed(ENDED, "sh", str(script), hidden=[str(tmp_path)])
    assert f"The guest has a {tmp_path} of its own: put {str(script)!r} into another directory" in said
    assert f"only with --allow-read {script}" in failed(ENDED, "sh", str(script), hidden=[])


@pytest.mark.parametrize("reason", ["the load l1 failed: No space left on device", "the guest said nothing for 60 s"])
def test_other_reasons_stay(failed, reason):
    assert failed(reason, "ls") == reason
