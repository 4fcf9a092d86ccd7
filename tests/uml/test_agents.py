"""Programs, commands and control groups in a guest."""

import json

import pytest

from wblab.host.recorded import RunFailedError
from wblab.host.sandbox import landlock_version
from wblab.lab.places import ROOT

SHORT = (
    "trace.events=[]",
    "load={c1={kind='control', idle='50ms'}}",
    "load.go={kind='command', wait='1s', argv=['sh', '-c', 'cat /proc/self/cgroup; pwd']}",
)


def console(run):
    return (run.path / "console.log").read_text()


@pytest.mark.parametrize("preset", ["base", "base-device"])
def test_a_load_runs_in_its_control_group_and_under_its_limit(lab, preset):
    script = "cat /proc/self/cgroup; cat $(find /sys/fs/cgroup -path */few/memory.max)"
    run = lab.run(
        preset,
        *SHORT,
        f"load.go.argv={json.dumps(['sh', '-c', script])}",
        "cgroup.few.loads=['go']",
        "cgroup.few.files.memory.max=33554432",
    )
    assert "0::/few\n33554432\n" in console(run)
    assert [item.end for item in run.loads] == ["stopped", "finished"]
    assert lab.left_behind() == []


def test_disk_in_a_control_file_becomes_the_device_number(lab):
    run = lab.run(
        "base-device",
        *SHORT,
        "load.go.argv=['sh', '-c', 'cat /sys/fs/cgroup/few/io.max; dd if=/dev/zero of=x bs=64K count=16 conv=fsync']",
        "cgroup.few.loads=['go']",
        'cgroup.few.files.io.max="{disk} wbps=524288"',
    )
    assert "wbps=524288" in console(run)
    assert 1.5 < run.load("go").durations_ns[1] / 1e9 < 4  # 1 MiB at half a MiB/s; unlimited it takes one second


def test_an_agent_runs_beside_the_loads_and_can_import_the_lab(lab):
    script = "id -u; wblab --version; trap 'echo ended; exit 0' TERM; while true; do sleep 0.1; done"
    run = lab.run("base", *SHORT, f"agent.a.argv={json.dumps(['sh', '-c', script])}")
    assert (run.path / "agent.a.log").read_text() == "0\nwblab 0.2.0\nended\n"


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("agent.a.argv=['false']", "the agent a ended by itself, with exit code 1: it printed nothing"),
        ("agent.a.argv=['wblab', 'kernel', 'biuld']", "the agent a ended by itself, with exit code 2: wblab: .*biuld"),
        ("agent.a.argv=['no-such-program']", "cannot start the agent a: no-such-program: No such file"),
        ("load.go.argv=['false']", "the command of load go ended with exit code 1"),
        ("cgroup.g.files.memory.nonsense=1", "cannot set cgroup.g.files.memory.nonsense to '1'"),
    ],
)
def test_a_failing_agent_or_command_fails_the_run(lab, setting, reason):
    with pytest.raises(RunFailedError, match=reason):
        lab.run("base", *SHORT, setting)
    assert lab.left_behind() == []


def test_the_lab_is_read_only_in_the_guest(lab):
    script = "touch /run/wblab/lab/x /run/wblab/packages/x; mount -o remount,rw /run/wblab/lab; touch /run/wblab/lab/y"
    run = lab.run("base", *SHORT, f"load.go.argv={json.dumps(['sh', '-c', f'{script}; true'])}")
    assert set(run.record["guest"]["programs"]) >= {"the lab's packages", "touch", "mount"}
    assert console(run).count("cannot touch") >= (3 if landlock_version() else 2)
    assert not list(ROOT.glob("[xy]"))
