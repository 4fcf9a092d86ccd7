import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from wblab.core.child import fork_child
from wblab.host.sandbox.landlock import KEEP, OWN, READ, RUN, Grant, landlock_version, restrict
from wblab.host.sandbox.sandbox import drop_capabilities

VERSION = landlock_version()
pytestmark = pytest.mark.skipif(VERSION == 0, reason="the host's kernel has no Landlock")


def succeeds(action, *grants):
    """Return whether an action succeeds in a child that is restricted to these grants."""

    def task():
        drop_capabilities()
        assert restrict(grants) == VERSION
        try:
            action()
        except OSError as error:
            os._exit(error.errno)

    return os.waitpid(fork_child(task), 0)[1] == 0


def make_file(path):
    os.close(os.open(path / "new", os.O_WRONLY | os.O_CREAT))


def write(path):
    os.close(os.open(path / "old", os.O_WRONLY))


REGULAR = {
    "write": write,
    "create": make_file,
    "delete": lambda path: (path / "old").unlink(),
    "rename": lambda path: (path / "old").rename(path / "renamed"),
    "read": lambda path: (path / "old").read_bytes(),
    "list": os.listdir,
}
if VERSION >= 3:
    REGULAR["truncate"] = lambda path: os.truncate(path / "old", 0)
DIRECTORIES = {"mkdir": lambda path: (path / "d").mkdir(), "rmdir": lambda path: (path / "empty").rmdir()}
SPECIAL = {
    "symlink": lambda path: (path / "symlink").symlink_to("old"),
    "fifo": lambda path: os.mkfifo(path / "fifo"),
    "socket": lambda path: socket.socket(socket.AF_UNIX).bind(str(path / "socket")),
    "device": lambda path: os.mknod(path / "null", 0o20666, os.makedev(1, 3)),
}


@pytest.fixture
def places(tmp_path):
    for name in ("inside", "outside"):
        (tmp_path / name / "empty").mkdir(parents=True)
        (tmp_path / name / "old").write_text("old")
    return tmp_path / "inside", tmp_path / "outside"


@pytest.mark.parametrize("action", REGULAR)
def test_regular_files_can_be_changed_only_where_granted(places, action):
    inside, outside = places
    assert succeeds(lambda: REGULAR[action](inside), Grant(str(inside), KEEP))
    assert not succeeds(lambda: REGULAR[action](outside), Grant(str(inside), KEEP))
    assert sorted(path.name for path in outside.iterdir()) == ["empty", "old"]
    assert (outside / "old").read_text() == "old"


@pytest.mark.parametrize("action", DIRECTORIES)
def test_directories_can_be_changed_only_where_owned(places, action):
    inside, _ = places
    assert not succeeds(lambda: DIRECTORIES[action](inside), Grant(str(inside), KEEP))
    assert succeeds(lambda: DIRECTORIES[action](inside), Grant(str(inside), OWN))


@pytest.mark.parametrize("action", SPECIAL)
def test_links_fifos_sockets_and_devices_cannot_be_made(places, action):
    inside, _ = places
    assert not succeeds(lambda: SPECIAL[action](inside), Grant(str(inside), OWN))
    assert sorted(path.name for path in inside.iterdir()) == ["empty", "old"]


def test_readable_files_cannot_be_written(places):
    inside, _ = places
    assert succeeds((inside / "old").read_text, Grant(str(inside), READ))
    assert not succeeds(lambda: write(inside), Grant(str(inside), READ))


def test_a_file_can_be_granted_alone(places):
    inside, _ = places
    (inside / "other").write_text("other")
    grant = Grant(str(inside / "old"), READ)
    assert succeeds((inside / "old").read_text, grant)
    assert not succeeds((inside / "other").read_text, grant)
    assert not succeeds(lambda: os.listdir(inside), grant)


def test_files_cannot_be_moved_or_linked_across_the_boundary(places):
    inside, outside = places
    grants = [Grant(str(inside), OWN), Grant(str(outside), READ)]
    assert not succeeds(lambda: (inside / "old").rename(outside / "moved"), *grants)
    assert not succeeds(lambda: (inside / "link").hardlink_to(outside / "old"), *grants)
    assert (outside / "old").stat().st_nlink == 1


def test_programs_can_be_executed_only_where_granted():
    every = [Grant("/", READ)]
    assert not succeeds(lambda: os.execv("/bin/true", ["true"]), *every)
    assert succeeds(lambda: os.execv("/bin/true", ["true"]), *every, Grant("/", RUN))


@pytest.mark.skipif(VERSION < 4, reason="the host's Landlock does not know TCP")
def test_no_tcp():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        assert not succeeds(lambda: socket.create_connection(address, timeout=5))
    assert not succeeds(lambda: socket.create_server(("127.0.0.1", 0)))


@pytest.mark.skipif(VERSION < 6, reason="the host's Landlock does not know signals and abstract sockets")
def test_no_signal_and_no_abstract_socket_reaches_outside():
    with subprocess.Popen(["sleep", "60"]) as other, socket.socket(socket.AF_UNIX) as server:
        name = f"\0wblab-test-{os.getpid()}"
        server.bind(name)
        server.listen()
        assert not succeeds(lambda: os.kill(other.pid, 0))
        assert not succeeds(lambda: socket.socket(socket.AF_UNIX).connect(name))
        other.kill()


def test_own_children_can_be_signalled():
    def end_a_child():
        pid = fork_child(lambda: time.sleep(60))
        os.kill(pid, 9)
        os.waitpid(pid, 0)

    assert succeeds(end_a_child)


def test_a_missing_path_is_an_error(tmp_path):
    assert not succeeds(lambda: None, Grant(str(tmp_path / "missing"), READ))


def test_without_landlock_nothing_is_changed():
    assert restrict([Grant("/", READ)], version=0) == 0
    assert Path("/dev/null").read_text() == ""
