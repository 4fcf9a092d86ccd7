import os
import subprocess
from pathlib import Path

import pytest

from wblab.core.child import fork_child
from wblab.host.sandbox import confine_writes, landlock_version

pytestmark = pytest.mark.skipif(landlock_version() == 0, reason="the host's kernel has no Landlock")


def write(path):
    with open(path / "old", "w") as file:
        file.write("changed")


def confined(action, *writable):
    """Return whether an action succeeds in a child that may write to these directories only."""

    def task():
        assert confine_writes(writable)
        action()

    return os.waitpid(fork_child(task), 0)[1] == 0


ACTIONS = {
    "write": write,
    "append": lambda path: open(path / "old", "a").close(),
    "create": lambda path: (path / "new").touch(),
    "mkdir": lambda path: (path / "directory").mkdir(),
    "rmdir": lambda path: (path / "empty").rmdir(),
    "delete": lambda path: (path / "old").unlink(),
    "rename": lambda path: (path / "old").rename(path / "renamed"),
    "symlink": lambda path: (path / "symlink").symlink_to("old"),
    "link": lambda path: (path / "link").hardlink_to(path / "old"),
    "fifo": lambda path: os.mkfifo(path / "fifo"),
    "child process": lambda path: subprocess.run(["/bin/sh", "-c", 'echo > "$0/new"', path], check=True),
}
if landlock_version() >= 3:
    ACTIONS["truncate"] = lambda path: os.truncate(path / "old", 0)


@pytest.fixture
def places(tmp_path):
    for name in ("inside", "outside"):
        (tmp_path / name / "empty").mkdir(parents=True)
        (tmp_path / name / "old").write_text("old")
    return tmp_path / "inside", tmp_path / "outside"


@pytest.mark.parametrize("action", ACTIONS)
def test_what_is_allowed_inside_is_refused_outside(places, action):
    inside, outside = places
    assert confined(lambda: ACTIONS[action](inside), inside)
    assert not confined(lambda: ACTIONS[action](outside), inside)
    assert sorted(path.name for path in outside.iterdir()) == ["empty", "old"]
    assert (outside / "old").read_text() == "old"


def test_nothing_can_be_moved_out(places):
    inside, outside = places
    assert not confined(lambda: (inside / "old").rename(outside / "moved"), inside)
    assert (inside / "old").exists()


def test_reading_stays_as_it_is(places):
    inside, outside = places
    assert confined((outside / "old").read_text, inside)


def test_dev_null_can_be_written():
    assert confined(lambda: Path("/dev/null").write_text("x"))


def test_a_directory_that_is_not_there_is_an_error(tmp_path):
    assert not confined(lambda: None, tmp_path / "missing")


def test_a_guest_is_confined_to_run_and_scratch(guest, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "old").write_text("old")
    one = guest(
        f"""
outside = {str(tmp_path / "outside")!r}
def refused(action, *arguments):
    try:
        action(*arguments)
    except PermissionError:
        return
    say("failed", reason=f"{{action.__name__}}{{arguments}} was allowed")
for directory in (RUN, SCRATCH, os.path.dirname(SCRATCH)):
    open(f"{{directory}}/new", "w").close()
    os.rename(f"{{directory}}/new", f"{{directory}}/kept")
    os.mkdir(f"{{directory}}/d")
    os.rmdir(f"{{directory}}/d")
refused(open, f"{{outside}}/old", "w")
refused(open, f"{{outside}}/new", "w")
refused(os.mkdir, f"{{outside}}/d")
refused(os.unlink, f"{{outside}}/old")
refused(os.rename, f"{{outside}}/old", f"{{outside}}/other")
refused(os.rename, f"{{outside}}/old", f"{{RUN}}/other")
refused(os.symlink, "old", f"{{outside}}/link")
say("power off")
"""
    )
    one.boot()
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["old"]
    assert (tmp_path / "outside" / "old").read_text() == "old"
    assert (one.request.run / "kept").exists()
