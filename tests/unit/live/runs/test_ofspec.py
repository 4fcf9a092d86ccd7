"""A spec's run on this machine itself, in directories of the test; the machine's limits are left alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.waiting import wait_until

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import read_run
from wblab.cli import main
from wblab.core.errors import InputError, WblabError
from wblab.core.tables import to_table
from wblab.host.recorded import RunFailedError
from wblab.host.request import Request
from wblab.kernels.here import find
from wblab.lab.places import ROOT
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.live.runs import here
from wblab.live.runs.ofspec import run_here, set_limits

LIMIT_S = 60
QUICK = (
    *("clock.mode=real", "trace.events=[]"),
    *("load.l1.wait=300ms", "load.l1.size=1MiB", "load.l2.wait=400ms", "load.l2.size=64KiB"),
)


@pytest.fixture
def request_for(tmp_path, monkeypatch):
    """Return a function that returns the request of a short run in a directory, which may be in memory."""
    monkeypatch.setattr(here, "_IN_MEMORY", ())
    (tmp_path / "disk").mkdir()

    def make(*settings):
        name = f"live:{tmp_path / 'disk'}"
        spec = read_spec(SPECS.find("base"), [*QUICK, *settings]).on(name)
        return Request(spec, find(name))

    return make


def test_it_runs_and_leaves_nothing_but_what_it_measured(request_for, tmp_path):
    wanted = request_for("seed=7")
    finished = run_here(wanted, tmp_path / "exp")
    run = read_run(finished.directory)
    assert [(item.name, item.end) for item in run.loads] == [
        *(("c1", "stopped"), ("w1", "stopped"), ("mw1", "stopped"), ("l1", "finished"), ("l2", "finished")),
    ]
    assert len(run.load("l1").durations_ns) == (1 << 20) // 1024
    assert run.record["spec"] == to_table(wanted.spec)
    machine = run.record["machine"]
    assert machine["limits_set"] is False
    assert machine["thresholds"].keys() == machine["own_thresholds"].keys()
    assert machine["disks"]["disk"]["directory"] == str(tmp_path / "disk")
    assert os.listdir(tmp_path / "disk") == []


def test_wblab_run_makes_one_here_and_says_that_events_are_not_recorded(request_for, tmp_path, capsys):
    request_for()
    quick = [word for setting in QUICK if not setting.startswith("trace.") for word in ("--set", setting)]
    where = ["--kernel", f"live:{tmp_path / 'disk'}", "--exp", str(tmp_path / "exp")]
    assert main(["run", *where, *quick]) == 0
    said = capsys.readouterr()
    run = read_run(Path(said.out.splitlines()[0]))
    assert run.record["left_out"] == list(run.spec.trace.events)
    assert "on this machine itself a spec's events are not recorded" in said.err
    with pytest.raises(InputError, match="on a machine itself, where a spec's events are not recorded"):
        page_cache(run)
    assert main(["run", *where, *quick, "--allow-read", "/etc"]) == 2


def test_a_load_that_fails_fails_the_run_and_its_files_are_removed(request_for, tmp_path, monkeypatch):
    with pytest.raises(RunFailedError, match="the load l1 failed: Is a directory"):
        run_here(request_for("load.l1.file='.'"), tmp_path / "exp")
    assert os.listdir(tmp_path / "disk") == []


def test_a_run_that_lasts_too_long_fails(request_for, tmp_path):
    with pytest.raises(RunFailedError, match="the load l1, l2 did not end within time_limit"):
        run_here(request_for("time_limit=1s", "load.l1.idle=500ms", "load.l2.idle=500ms"), tmp_path / "exp")
    assert os.listdir(tmp_path / "disk") == []


def test_a_directory_that_has_gone_fails_the_run(request_for, tmp_path):
    wanted = request_for()
    (tmp_path / "disk").rmdir()
    with pytest.raises(RunFailedError, match="cannot make a directory in"):
        run_here(wanted, tmp_path / "exp")


CODE = """
import signal, sys
from pathlib import Path
from wblab.live.runs import here
from wblab.host.request import Request
from wblab.kernels.here import find
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.live.runs.ofspec import run_here

def stop(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, stop)
spec = read_spec(SPECS.find("base"), ["clock.mode=real", "trace.events=[]"]).on(sys.argv[1])
run_here(Request(spec, find(sys.argv[1])), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_however_it_is_ended_nothing_is_left(tmp_path, number):
    disk = tmp_path / "disk"
    disk.mkdir()
    argv = [sys.executable, "-c", CODE, f"live:{disk}", str(tmp_path / "exp")]
    process = subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.DEVNULL)
    wait_until(lambda: list(disk.glob("*/w1")), LIMIT_S)
    process.send_signal(number)
    assert process.wait(LIMIT_S) != 0
    wait_until(lambda: os.listdir(disk) == [], LIMIT_S)


class Kept:
    """Keeps changes, and notes what the files had at that time."""

    def __init__(self, vm):
        self.vm, self.changes, self.seen = vm, [], []

    def note(self, *changes):
        self.changes += changes
        self.seen.append({path.name: path.read_text() for path in self.vm.iterdir()})


@pytest.fixture
def vm(tmp_path):
    for name, text in {"dirty_bytes": "0", "dirty_ratio": "20", "dirty_expire_centisecs": "3000"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_share_comes_back_as_a_share(vm):
    kept = Kept(vm)
    set_limits({"vm.dirty_bytes": 4096000, "vm.dirty_expire_centisecs": 100}, kept, vm)
    assert [path.read_text() for path in (vm / "dirty_bytes", vm / "dirty_expire_centisecs")] == ["4096000", "100"]
    assert kept.seen[0]["dirty_bytes"] == "0"
    first, second = kept.changes
    assert (first.path, first.new, first.back_path, first.back) == (
        *(str(vm / "dirty_bytes"), "4096000", str(vm / "dirty_ratio"), "20"),
    )
    for change in (second, first):
        change.undo()
    assert (vm / "dirty_ratio").read_text() == "20"
    assert (vm / "dirty_expire_centisecs").read_text() == "3000"


def test_what_is_so_already_is_left_alone(vm):
    (vm / "dirty_bytes").write_text("4096000\n")
    kept = Kept(vm)
    set_limits({"vm.dirty_bytes": 4096000}, kept, vm)
    assert kept.changes == []


def test_a_limit_that_cannot_be_set_is_named(vm):
    with pytest.raises(WblabError, match=r"cannot set vm\.dirty_background_bytes=1 on this machine: No such file"):
        set_limits({"vm.dirty_background_bytes": 1}, Kept(vm), vm)
