"""Root in another user's directory, and kills: nothing outside is changed and nothing is left, whenever it happens."""

import os
import random
import signal
import stat
import subprocess
import sys
import time

import pytest
from support import swapped
from support.descriptors import nothing_stays_open
from support.livelab import PROGRAM, QUICK
from support.processes import alive
from support.swapped import NOBODY, state
from support.waiting import wait_until

from wblab.cli import main
from wblab.lab.held import open_directory
from wblab.lab.places import ROOT
from wblab.live.monitor.audience import command
from wblab.live.monitor.sampler import SamplerRequest
from wblab.machine.block import scheduler, schedulers
from wblab.machine.directory import make_directory, open_own, own_directory
from wblab.machine.storage import find_storage
from wblab.machine.undo import Undo

BAIT = ["w1", "mw1.0", "mw1.1", "0", "1", "experiment.json", ".experiment.json.partial", "command.log", "load.w1.npy"]


@pytest.fixture
def areas():
    """A directory of another user, beside one of root."""
    with swapped.areas(("disk", "exp"), BAIT) as place:
        yield place


@pytest.fixture(params=[("disk", "exp"), ("disk", "exp", ".")], ids=["within", "above too"])
def attacker(areas, request):
    """Another user, who keeps replacing names by links to root's directory and restoring them."""
    with swapped.swapping(areas, request.param, ("disk", "exp")):
        yield


@pytest.mark.parametrize("round_", range(3))
def test_loads_and_record_stay_in_their_directory(areas, attacker, round_):
    before = state(areas / "roots")
    options = ["--dir", str(areas / "theirs/disk"), "--exp", str(areas / "theirs/exp"), *QUICK]
    command = [*PROGRAM, *options, *([] if round_ % 2 else ["--no-trace"]), "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert state(areas / "roots") == before
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, 2)  # an attacker in the path may make a run fail


def test_a_probe_stays_in_its_directory(areas, attacker):
    before = state(areas / "roots")
    request = SamplerRequest("here", probe=str(areas / "theirs/disk"))
    for _ in range(5):
        process = subprocess.Popen(
            command(request, sys.executable),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PYTHONPATH": str(ROOT)},
        )
        process.stdout.readline()
        time.sleep(0.5)
        process.terminate()
        _, said = process.communicate(timeout=600)
        assert b"Traceback" not in said
        assert state(areas / "roots") == before


def test_a_killed_run_empties_only_its_own_directory(areas, attacker):
    before = state(areas / "roots")
    options = ["--dir", str(areas / "theirs/disk"), "--exp", str(areas / "theirs/exp"), *QUICK, "--no-trace"]
    for number in range(4):
        process = subprocess.Popen([*PROGRAM, *options, "--", "sleep", "9"], stderr=subprocess.PIPE)
        time.sleep(0.3 + number / 4)
        process.kill()
        process.communicate(timeout=600)
    theirs = areas / "theirs/disk"

    def emptied():
        try:
            return not any(path.is_file() for path in theirs.rglob("*") if "roots" not in str(path.resolve()))
        except FileNotFoundError:  # the attacker is still active
            return False

    wait_until(emptied)
    assert state(areas / "roots") == before


def test_another_user_s_unchanged_directory_can_be_used(areas):
    options = ["--dir", str(areas / "theirs/disk"), "--exp", str(areas / "theirs/new/exp"), *QUICK, "--no-trace"]
    done = subprocess.run([*PROGRAM, *options, "--", "true"], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if not line.startswith("wblab: ")] == []  # what to do next
    assert os.listdir(areas / "theirs/disk") == []
    (run,) = (areas / "theirs/new/exp").iterdir()
    assert done.stdout.strip() == str(run)
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    assert stat.S_IMODE((run / "command.log").stat().st_mode) == 0o600


@pytest.mark.parametrize("option", ["--dir", "--exp"])
def test_root_follows_no_link_of_another_user(areas, option, capsys):
    (link := areas / "theirs/link").symlink_to(areas / "roots")
    os.lchown(link, NOBODY, NOBODY)
    other = {"--dir": "--exp", "--exp": "--dir"}[option]
    before = state(areas)
    assert main(["live", option, str(link), other, str(areas / "roots"), "--no-trace", "--", "true"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"link is a link of user {NOBODY}: give the directory that it leads to" in said
    assert state(areas / "theirs") == {key: before[key] for key in before if "theirs" in key}


def test_links_of_root_are_followed(areas):
    (areas / "link").symlink_to("theirs/../theirs")
    (areas / "absolute").symlink_to(areas / "link")
    held = open_directory(areas / "absolute" / "disk")
    assert os.path.samestat(os.fstat(held), os.stat(areas / "theirs/disk"))
    os.close(held)


def test_circular_links_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        open_directory(tmp_path / "a")


def test_a_directory_exchanged_during_creation_is_refused(tmp_path):
    parent = open_directory(tmp_path)
    (tmp_path / "other").mkdir(mode=0o700)
    (tmp_path / "other" / "file").touch()
    (tmp_path / "link").symlink_to("other")
    with pytest.raises(NotADirectoryError):
        open_own(parent, "link")
    with pytest.raises(PermissionError):
        open_own(parent, "other")
    (tmp_path / "other" / "file").unlink()
    os.close(open_own(parent, "other"))
    (tmp_path / "other").chmod(0o777)
    with pytest.raises(PermissionError):
        open_own(parent, "other")
    with pytest.raises(FileExistsError):
        make_directory(parent, "other")
    os.close(parent)


def test_filesystems_without_owners_may_have_no_links(tmp_path):
    parent = open_directory(tmp_path)
    (tmp_path / "made").mkdir(mode=0o755)
    os.close(open_own(parent, "made", has_links=lambda directory: False))
    os.close(parent)


def test_descriptors_are_closed(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "link").symlink_to("deep/../deep")
    with nothing_stays_open():
        for path in ("file", "missing", "link/er/missing", "file/x"):
            with pytest.raises(OSError, match=r"."):
                open_directory(tmp_path / path)
        os.close(open_directory(tmp_path / "link" / "er"))


def test_the_lab_s_own_directory_is_removed_with_its_contents(tmp_path):
    parent = open_directory(tmp_path)
    with Undo() as undo:
        held = own_directory(parent, "own", undo)
        (tmp_path / "own/below").mkdir()
        (tmp_path / "own/below/file").touch()
        os.close(held)
        os.close(parent)
    assert undo.failures == ()
    assert list(tmp_path.iterdir()) == []


OURS = ("wblab-live-", "wblab-captures-")


def left(live, tracing):
    """Return everything that a run could leave behind; others that still run may have trace instances."""
    ours = [item.name for item in (tracing / "instances").iterdir() if item.name.startswith(OURS)]
    orphans = [name for name in ours if not alive(int(name.rpartition("-")[2]))]
    return {*orphans, *live.processes(), *os.listdir(live.disk)}


def disk_options(live):
    """Return options that change the disk's scheduler, and a function that reads it; nothing without a disk."""
    place = find_storage(live.disk)
    if not place.disks:
        return [], lambda: ""
    disk = place.disks[0]
    now = scheduler(disk)
    others = [name for name in schedulers(disk) if name != now]
    return (["--scheduler", f"{disk.name}={others[0]}"] if others else []), lambda: scheduler(disk)


@pytest.mark.parametrize("seed", range(8))
def test_a_kill_at_any_moment_leaves_nothing(live, tracing, seed):
    options, scheduler_now = disk_options(live)
    before, there = scheduler_now(), left(live, tracing)
    script = f"dd if=/dev/zero of={live.disk}/written bs=64K count=16; sleep 1000 & : {live.disk}; sleep 1000"
    process = live.start(*options, "--capture-pauses", "10ms", "--capture-around", "100ms", "--", "sh", "-c", script)
    time.sleep(random.Random(seed).uniform(0, 3))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    (live.disk / "written").unlink(missing_ok=True)
    wait_until(lambda: not left(live, tracing) - there)
    wait_until(lambda: scheduler_now() == before)
