"""The monitor, of a guest from outside, and inside a guest, as root, on a disk that locks up."""

import json
import subprocess
import sys

import pytest

from wblab.analysis.runs.run import read_run
from wblab.lab.places import ROOT
from wblab.live.monitor.samples import Batch, End, SampleSource, parse

S = 10**9

# Throttled after 2 MiB, and over in some ten seconds.
FEW = ("sysctl.vm.dirty_ratio=0", "sysctl.vm.dirty_bytes=4194304", "trace.lead=1s", "stop_order=[]")
LOADS = ("load.l1.wait='1s'", "load.l1.size='8MiB'", "load.l2.wait='2s'", "load.l2.size='1MiB'")


def watch(lab, spec, *settings):
    """Return the items that the command prints for a guest, and the guest's run."""
    place = ("--exp", str(lab.results), "--kernel", str(lab.kernel.path))
    command = [sys.executable, "-m", "wblab", "monitor", "--guest", spec, "--json", *place]
    command += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    name = done.stderr.decode().splitlines()[-1]  # after the progress, of a run that takes long
    return list(map(parse, done.stdout.splitlines())), read_run(lab.results / name)


def rows(items, key):
    return [row for item in items if isinstance(item, Batch) for row in getattr(item, key)]


@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_a_running_guest_is_monitored(lab, clock):
    items, run = watch(lab, "base", *FEW, *LOADS, f"clock.mode='{clock}'")
    assert isinstance(items[0], SampleSource)
    assert items[0].name.startswith("guest of base, Linux ")
    assert items[0].untraced == ""
    assert items[-1] == End("the sampler was stopped")
    states = rows(items, "states")
    assert max(state.dirty + state.writeback for state in states) > 2 << 20
    assert all(state.limit for state in states)
    if clock == "virtual":  # in real time a busy machine takes its time to start a program
        assert states[0].at_ns < run.zero_ns
        assert states[-1].at_ns > max(int(load.boundaries_ns[-1]) for load in run.loads) - S
    assert "l1" in {row.task for row in rows(items, "throttled")}
    assert "l1" in {row.task for row in rows(items, "writers")}
    waits = rows(items, "waits")
    assert max(wait.at_ns - wait.start_ns for wait in waits if not wait.over) > S // 2  # seen while it lasted
    assert max(wait.at_ns - wait.start_ns for wait in waits if wait.over) > S // 2
    assert not run.failure
    assert lab.left_behind() == []


def test_writers_are_listed_by_disk_with_the_names_of_the_spec(lab):
    settings = ("clock.mode=virtual", "trace.events=[]", "load.l1.wait=1s", "load.l1.size=16MiB", "stop_order=[]")
    items, _ = watch(lab, "two-disks", *settings)
    told = {(row.task, row.disk) for row in rows(items, "writers") if row.disk}
    assert {("l1", "slow"), ("mw-slow", "slow"), ("mw-fast", "fast")} <= told
    assert not {("l1", "fast"), ("mw-slow", "fast"), ("mw-fast", "slow")} & told
    assert ("l1", "slow") in {(row.task, row.disk) for row in rows(items, "throttled")}
    assert {row.disk for row in rows(items, "disks")} == {"slow", "fast"}


# Prints what a monitor in the guest leaves behind after the signal `$1`, and then its samples.
WITHIN = """
: > /tmp/samples
wblab monitor --json --dir /mnt/disk > /tmp/samples & monitor=$!
until grep -q batch /tmp/samples; do sleep 0.1; done
ls /sys/kernel/tracing/instances | sed 's/[0-9]*$//'
ls -a /mnt/disk | grep -c wblab-probe
ended() {
    kill -$1 $monitor; { wait $monitor; } 2> /dev/null; echo code $?
    until [ "$(ls /sys/kernel/tracing/instances | wc -l)" = 0 ]; do sleep 0.1; done
    until [ "$(ls /mnt/disk | grep -c wblab-probe)" = 0 ]; do sleep 0.1; done
    # The guest's init does not reap, so ended processes are still listed by name.
    until [ "$(cat /proc/[0-9]*/status | grep -A2 '^Name:.wblab-' | grep State: | grep -vc Z)" = 0 ]; do sleep 0.1; done
    echo nothing left; cat /tmp/samples; exit 0
}
trap "ended $1" TERM
while true; do sleep 0.1; done
"""


@pytest.mark.parametrize(("how", "code"), [("TERM", 0), ("KILL", 137)])
def test_the_monitor_in_a_guest_watches_the_disk_and_undoes_its_changes(lab, how, code):
    argv = json.dumps(["bash", "-c", WITHIN, "bash", how])
    run = lab.run("base-device", *FEW, *LOADS, "memory='400MiB'", f"agent.a.argv={argv}")
    instance, probes, ended, nothing, *lines = (run.path / "agent.a.log").read_text().splitlines()
    assert (instance, probes, ended, nothing) == ("wblab-monitor-", "1", f"code {code}", "nothing left")
    items = [parse(text.encode()) for text in lines[: len(lines) if how == "TERM" else -1]]
    assert items[0].untraced == ""
    assert any(state.limit for state in rows(items, "states"))
    assert max(wait.at_ns - wait.start_ns for wait in rows(items, "waits")) > S // 2
    assert "l1" in {row.task for row in rows(items, "writers")}
    if how == "TERM":
        assert items[-1] == End("the sampler was stopped")
