"""The daemon in a guest, as root of the whole machine: with taskstats, all controllers and every scheduler."""

import json
import re

import pytest
from support.lottery import some

from wblab.machine.processes import ioprio_value

# A control load, and an offender that keeps the guest running until the trial below is over.
LOADS = ("trace.events=[]", "load={c1={kind='control', idle='50ms'}}")
UNTIL_S = 100
IO_MAX = "[0-9]+:[0-9]+ rbps=max wbps=8[0-9]{5} riops=max wiops=max"  # 80 % of what it was found to take, 1 MiB/s
TRIAL = """
import json, os, pathlib, re, signal, subprocess, sys, time
from wblab.machine.processes import get_ioprio
from wblab.machine.processes import threads

WRITER = '''
import sys, threading, time
from wblab.machine.processes import set_ioprio
def write(name, value):
    set_ioprio(0, value)
    with open("/mnt/disk/" + name, "wb", buffering=0) as file:
        while True: file.write(bytes(4096))
threading.Thread(target=write, args=("one", 2 << 13 | 1), daemon=True).start()
write("two", 1 << 13 | 4)
'''
def settings():
    root = pathlib.Path("/sys/fs/cgroup")
    paths = [root / "cgroup.subtree_control", *(pathlib.Path("/proc/sys/vm", "dirty_" + name) for name in
        ("bytes", "ratio", "background_bytes", "background_ratio"))]
    paths += [pathlib.Path("/sys/block/ubda", name) for name in
        ("queue/nr_requests", "queue/max_sectors_kb", "bdi/max_ratio_fine", "bdi/strict_limit")]
    group = root / "wblab-mitigate"
    names = ("memory.high", "io.weight", "io.bfq.weight", "io.max")
    paths += [path for name in names if (path := group / name).exists()]
    return {path.name: path.read_text().strip() for path in paths}
def say(what):
    group = re.search("0::(.*)", pathlib.Path(f"/proc/{writer.pid}/cgroup").read_text())[1]
    ioprios = {tid: get_ioprio(tid) for tid in threads(writer.pid)}
    print(json.dumps({"what": what, "ioprios": ioprios, "group": group, "settings": settings()}), flush=True)
def start(): return subprocess.Popen(
    ["wblab", "mitigate", "--json", "--config", "/run/mitigate.toml"], stdout=subprocess.PIPE, text=True)
def until(daemon, action):
    for line in daemon.stdout:
        event = json.loads(line)
        if event["action"] == "warn": print(line, end="", flush=True)
        if event["action"] == action: return event
    sys.exit("the daemon ended")

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
pathlib.Path("/run/mitigate.toml").write_text(sys.argv[1])
while not os.path.ismount("/mnt/disk"): time.sleep(0.1)
writer = subprocess.Popen([sys.executable, "-c", WRITER])
time.sleep(1)
say("before")
daemon = start()
while until(daemon, "hold")["pid"] != writer.pid: pass
say("held")
daemon.kill()
daemon.wait()
say("killed")
daemon = start()
until(daemon, "put back")
while until(daemon, "hold")["pid"] != writer.pid: pass
say("held again")
daemon.terminate()
print(json.dumps({"what": "exit code", "code": daemon.wait()}), flush=True)
say("after")
writer.kill()
signal.pause()
"""


def trial(lab, policy, *settings):
    """Return the results of a policy's trial in a guest, by name, and the daemon's warnings."""
    argv = ["python3", "-c", TRIAL, f'policy = "{policy}"\n']
    wait = (f"load.l1={{kind='load', file='l1', wait='{UNTIL_S}s', size='1KiB', block='1KiB'}}",)
    run = lab.run("base-device", *LOADS, *wait, f"agent.trial.argv={json.dumps(argv)}", *settings)
    lines = [json.loads(line) for line in (run.path / "agent.trial.log").read_text().splitlines()]
    assert lab.left_behind() == []
    return {line["what"]: line for line in lines if "what" in line}, [line["text"] for line in lines if "text" in line]


def without_name(line):
    return {key: value for key, value in line.items() if key != "what"}


IDLE, GROUP = {"ioprios": ioprio_value("idle", 5)}, {"group": "/wblab-mitigate"}
# Of each policy: what it does to the offender, and what it sets.
POLICIES = {
    "idle": (IDLE, {}),
    "best-effort-7": ({"ioprios": ioprio_value("best-effort", 7)}, {}),
    "io.weight": (GROUP, {"io.bfq.weight": "default 1", "cgroup.subtree_control": "io"}),
    "io.max": (GROUP, {"cgroup.subtree_control": "io memory", "io.max": IO_MAX}),
    "memory.high": (GROUP, {"cgroup.subtree_control": "memory"}),
    "dirty-bytes": ({}, {"dirty_ratio": "0"}),
    "short-queue": ({}, {"nr_requests": "4", "max_sectors_kb": "128"}),
    "strict-limit": ({}, {"strict_limit": "1"}),
    "short-queue-always+strict-limit-always": ({}, {"nr_requests": "4", "strict_limit": "1"}),
    "idle+memory.high": (IDLE | GROUP, {"cgroup.subtree_control": "memory"}),
}


@pytest.mark.parametrize("policy", some(POLICIES, 4))
def test_an_offender_is_limited_again_after_a_kill_and_restored_at_the_end(lab, policy):
    held, settings = POLICIES[policy]
    said, warnings = trial(lab, policy, 'disk.scheduler="bfq"')
    before = without_name(said["before"])
    assert sorted(before["ioprios"].values()) == [ioprio_value("realtime", 4), ioprio_value("best-effort", 1)]
    for moment in ("held", "held again"):
        line = said[moment]
        if "ioprios" in held:
            assert set(line["ioprios"].values()) == {held["ioprios"]}
        else:
            assert line["ioprios"] == before["ioprios"]
        assert line["group"] == held.get("group", before["group"])
        for name, value in settings.items():
            assert re.fullmatch(value, line["settings"][name]), name
    assert without_name(said["killed"]) != before
    assert said["exit code"]["code"] == 0
    assert without_name(said["after"]) == before
    assert warnings == []


def test_a_scheduler_that_ignores_priorities_is_named(lab):
    _, warnings = trial(lab, "idle", 'disk.scheduler="kyber"')
    assert len(set(warnings)) == 1
    assert "ubda uses the scheduler kyber, which ignores I/O priorities; bfq honours them" in warnings[0]


def test_offenders_of_an_experiment_are_found(lab):
    """Every offender of the experiment is found; the innocent loads are not touched."""
    run = lab.run("base-device", "trace.events=[]", "agent.mitigate.argv=['wblab', 'mitigate', '--json']")
    events = [json.loads(line) for line in (run.path / "agent.mitigate.log").read_text().splitlines()]
    assert "/sys/block/ubda/queue/nr_requests to 4" in [event["text"] for event in events if event["action"] == "set"]
    held = {event["pid"] for event in events if event["action"] == "hold"}
    assert held == {run.load(name).pid for name in ("l1", "l2")}
    unknown, note, queue = [event for event in events if event["action"] == "note"]
    assert queue["text"] == "the queue of ubda holds at most 512 KiB"
    assert unknown["disk"] == note["disk"] == "ubda"
    assert "is unknown yet" in unknown["text"]
    rate, unit = note["text"].split()[-2:]
    assert 0.9 < float(rate) / {"MiB/s": 1, "KiB/s": 1024}[unit] < 1.1  # the disk is made to take 1 MiB/s


KNOWN = "printf 'disk = \"ubda\"\\nbandwidth = 1048576\\n' > /tmp/known; exec wblab mitigate --json --config /tmp/known"


def events_of(lab, preset, *settings):
    """Return a run of a preset with the daemon, which knows the first disk's rate, and the daemon's output."""
    argv = json.dumps(["sh", "-c", KNOWN])
    run = lab.run(preset, "trace.events=[]", f"agent.mitigate.argv={argv}", *settings)
    return run, [json.loads(line) for line in (run.path / "agent.mitigate.log").read_text().splitlines()]


def test_writers_to_another_disk_are_not_limited(lab):
    """Only the slow disk of two is limited; without the daemon, writers to the other wait for over 2 s."""
    run, events = events_of(lab, "two-disks")
    requests, size, ratio, strict, *_ = [event["text"] for event in events if event["action"] == "set"]
    assert requests == "/sys/block/ubda/queue/nr_requests to 4"
    assert size == "/sys/block/ubda/queue/max_sectors_kb to 128"
    assert re.fullmatch("/sys/class/bdi/[0-9]+:0/max_ratio_fine to [0-9]{5,6}", ratio)
    assert re.fullmatch("/sys/class/bdi/[0-9]+:0/strict_limit to 1", strict)
    assert max(float(run.load(name).pauses_ns.max()) for name in ("w-fast", "mw-fast")) < 0.3e9


def test_a_single_disk_gets_no_limit(lab):
    _, events = events_of(lab, "base-device")
    assert not [event for event in events if "strict_limit" in event["text"]]
    assert not [event for event in events if "its own write cache" in event["text"]]


def test_a_disk_with_a_write_cache_is_recognised(lab):
    cache = ("disk.driver='sata'", "disk.write_bps='20MiB/s'", "disk.cache_bytes='8MiB'", "disk.drain_bps='1MiB/s'")
    _, events = events_of(lab, "base-device", *cache)
    (told,) = [event["text"] for event in events if "its own write cache" in event["text"]]
    assert re.match("flushes of ubda take [0-9.]+ s, but its queue only 0.50 s: ", told)
