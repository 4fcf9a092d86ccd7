"""The whole daemon on this machine, restricted to the test's own processes."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from support.ioprios import all_ioprios
from support.waiting import wait_until

from wblab.lab.places import ROOT
from wblab.machine.processes import ioprio_value, set_ioprio

pytestmark = pytest.mark.usefixtures("alone")
NAME = "wblab-offender"
OUR_IDLE = ioprio_value("idle", 5)
LIMIT_S = 120  # for an action that takes a second on an idle machine
# Writes some MB/s from two threads and a child until a line arrives, then sleeps. The file grows, because writing
# dirty pages again does not count.
OFFENDER = """
import os, sys, threading, time
from wblab.machine.processes import set_ioprio
from wblab.core.syscalls import set_process_name
set_process_name("wblab-offender")
path, writing = sys.argv[1], True
begun, begin = os.pipe()
def write(name, value):
    set_ioprio(0, value)
    os.write(begin, b"x")
    with open(f"{path}/{name}", "wb", buffering=0) as file:
        while writing:
            file.write(bytes(1 << 14))
            time.sleep(0.01)
    time.sleep(1000)
pid = os.fork()
if not pid: write("child", 2 << 13 | 6)
threading.Thread(target=write, args=("thread", 2 << 13 | 1), daemon=True).start()
real_time_if_permitted = (1 if os.geteuid() == 0 else 2) << 13 | 4
threading.Thread(target=write, args=("other", real_time_if_permitted), daemon=True).start()
for _ in range(3): os.read(begun, 1)
print("ready", flush=True)
sys.stdin.readline()
writing = False
os.kill(pid, 9)
os.waitpid(pid, 0)
time.sleep(1000)
"""

root = pytest.mark.skipif(os.geteuid() != 0, reason="changes processes, which needs root")


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "mitigate.toml"

    def write(**changes):
        values = {
            "state": str(tmp_path / "state"),
            "learned": "",
            "policy": "idle",  # the default would shorten the queue of this machine's disk
            "bandwidth": "1MiB/s",
            "only": [NAME],
            "period": "200ms",
        }
        values |= {"smoothing": "800ms", "hold": "500ms"} | changes
        path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()))
        return path

    return write


@pytest.fixture
def daemon(config):
    running = []

    def run(*arguments, **changes):
        process = subprocess.Popen(
            [sys.executable, "-m", "wblab", "mitigate", "--json", "--config", str(config(**changes)), *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield run
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def offender(start, disk_path):
    process = start(OFFENDER, disk_path)
    assert process.stdout.readline() == "ready\n"
    return process


def until(process, action, pid):
    """Read the daemon's output until it takes this action on that process."""
    while line := process.stdout.readline():
        event = json.loads(line)
        if (event["action"], event["pid"]) == (action, pid):
            return event
    raise AssertionError(f"it ended without {action}: {process.stderr.read()}")


def ended(process, number=signal.SIGTERM):
    process.send_signal(number)
    process.communicate(timeout=LIMIT_S)
    return process.returncode


@root
@pytest.mark.parametrize("policy", ["idle", "best-effort-7"])
def test_an_offender_is_limited_while_it_writes_and_released_afterwards(taskstats, daemon, offender, policy):
    before = all_ioprios(offender.pid)
    assert len(set(before.values())) == 4
    process = daemon(policy=policy)
    event = until(process, "hold", offender.pid)
    assert event["name"] == NAME
    assert event["share"] > 0.5
    value = OUR_IDLE if policy == "idle" else ioprio_value("best-effort", 7)
    wait_until(lambda: set(all_ioprios(offender.pid).values()) == {value})  # the child may be limited by itself
    offender.stdin.write("\n")
    offender.stdin.flush()
    until(process, "release", offender.pid)
    after = all_ioprios(offender.pid)
    assert len(after) == 3  # the child has ended
    assert after == {task: before[task] for task in after}
    assert ended(process) == 0


@root
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_restores_everything(taskstats, daemon, offender, number):
    before = all_ioprios(offender.pid)
    process = daemon()
    until(process, "hold", offender.pid)
    assert ended(process, number) == 0
    assert all_ioprios(offender.pid) == before


@root
def test_a_restarted_daemon_undoes_what_the_killed_one_left(taskstats, daemon, offender):
    before = all_ioprios(offender.pid)
    chance = random.Random(2)
    held = 0
    for _ in range(4):
        process = daemon()
        until(process, "hold", offender.pid)
        time.sleep(chance.random() * 0.3)
        process.kill()
        process.wait()
        held += all_ioprios(offender.pid) != before
    assert held
    process = daemon(only=["nobody"])
    until(process, "put back", 0)
    assert all_ioprios(offender.pid) == before
    assert ended(process) == 0


@root
def test_restore_only_undoes_and_ends(taskstats, daemon, offender):
    before = all_ioprios(offender.pid)
    process = daemon()
    until(process, "hold", offender.pid)
    process.kill()
    process.wait()
    assert all_ioprios(offender.pid) != before
    restoring = daemon("--restore")
    said, _ = restoring.communicate(timeout=LIMIT_S)
    assert restoring.returncode == 0
    assert json.loads(said)["action"] == "put back"
    assert all_ioprios(offender.pid) == before


@root
def test_without_taskstats_it_works_from_proc(offender, tmp_path, config):
    """The fallback is forced by a daemon without permission for taskstats (CAP_NET_ADMIN is 12)."""
    code = """
import ctypes, sys
assert not ctypes.CDLL(None).prctl(24, 12, 0, 0, 0)
from wblab.cli import main
import os
os.execv(sys.executable, [sys.executable, "-m", "wblab", *sys.argv[1:]])
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, "mitigate", "--json", "--config", str(config())],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        before = all_ioprios(offender.pid)
        assert "no taskstats" in until(process, "warn", 0)["text"]
        until(process, "hold", offender.pid)
        assert all_ioprios(offender.pid) != before
        assert ended(process) == 0
        assert all_ioprios(offender.pid) == before
    finally:
        process.kill()
        process.communicate()


def test_a_dry_run_changes_nothing(taskstats, daemon, offender, tmp_path):
    before = all_ioprios(offender.pid)
    process = daemon("--dry-run")
    assert "would be held" in until(process, "hold", offender.pid)["text"]
    assert all_ioprios(offender.pid) == before
    assert not (tmp_path / "state").exists()
    assert ended(process) == 0


@root
def test_protected_processes_are_not_touched(taskstats, daemon, offender, config):
    before = all_ioprios(offender.pid)
    process = daemon(allow=[NAME], only=[])
    until(process, "note", 0)
    time.sleep(2)
    assert ended(process) == 0
    assert all_ioprios(offender.pid) == before


@root
def test_only_one_daemon_can_run(taskstats, daemon):
    first = daemon()
    until(first, "note", 0)
    second = daemon()
    _, said = second.communicate(timeout=LIMIT_S)
    assert second.returncode == 1
    assert said == f"wblab: a daemon is already running with pid {first.pid}: stop it first: kill {first.pid}\n"
    assert ended(first) == 0


def test_wrong_input_is_reported_on_one_line(daemon):
    process = daemon(policy="idel")
    _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 2
    assert said.startswith("wblab: policy: 'idel' is not one of")
    assert said.count("\n") == 1


def test_missing_permissions_are_reported_on_one_line(config):
    if os.geteuid() != 0:
        pytest.skip("becomes another user, which needs root")
    code = """
import os, sys
from wblab import cli
from wblab.live.verbs import mitigate
from wblab.live.mitigate import configuration
from wblab.live.mitigate import service
from wblab.live.mitigate import service
os.seteuid(65534)
sys.exit(cli.main(["mitigate"]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "wblab: the daemon needs root to change processes: use sudo, or --dry-run to watch only\n",
    )


def test_the_daemon_recognises_its_own_name(offender):
    set_ioprio(offender.pid, 0)
    with open(f"/proc/{offender.pid}/comm") as file:
        assert file.read().strip() == NAME
