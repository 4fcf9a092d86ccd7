"""live_experiment.py on a machine where it may do anything: in a guest, as root, on a disk of the device model."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from wblab.analysis.runs.captures import capture_of, captures
from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.pauses import around, pause_report
from wblab.analysis.runs.perfetto import export
from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.why.explanations import explanations
from wblab.plot.picture import picture, save
from wblab.plot.timeline import timeline

MS, S = 10**6, 10**9

# Everything that a live run could leave behind, as text. Zombies do not count, because no process in a guest reaps
# orphans. The kernel starts a thread when the first trigger is removed, and keeps it
# (kernel/trace/trace_events_trigger.c).
NOT_LEFT = "-e '^Z' -e ' ps' -e kworker -e trigger_data_free"
STATE = f"""state() {{
  cat /sys/block/ubda/queue/scheduler /proc/mounts /sys/kernel/tracing/set_event /sys/kernel/tracing/tracing_on
  cat /sys/fs/cgroup/cgroup.subtree_control
  ls /sys/kernel/tracing/instances /mnt/disk; find /sys/fs/cgroup -type d
  ps -A -o stat=,comm= > /tmp/processes; grep -v {NOT_LEFT} /tmp/processes | cut -c 6- | sort
}}
"""
OUT = "/run/wblab/scratch/left"
BIG = "/mnt/disk/big"
DD = f"dd if=/dev/zero of={BIG} bs=64K count=640; rm {BIG}"


def in_guest(lab, script: str) -> tuple[Path, str]:
    """Run a shell script in a guest on the device disk; return its working directory and its output."""
    kept = f"cd {OUT}; ({script}) > said 2>&1"
    run = lab.run(
        "base-device",
        "memory=130MiB",  # the live run and its captures need some of it
        "trace.events=[]",
        "load={c1={kind='control', idle='50ms'}}",
        f"load.go={{kind='command', wait='0s', argv={json.dumps(['sh', '-c', kept])}}}",
    )
    out = run.path / "left"
    return out, (out / "said").read_text()


def live_command(*arguments: str, command: str = DD) -> str:
    options = " ".join((f"--exp {OUT}/live --dir /mnt/disk --wait 3s --tail 3s", *arguments))
    return f"live_experiment.py {options} -- sh -c '{command}'"


@pytest.fixture(scope="module")
def outer(shared_lab):
    """A live run with all options, and the machine's state before and after it."""
    options = "--scheduler ubda=bfq --ioclass idle --cgroup memory.high=40M --capture-pauses 500ms --capture-buffer 8M"
    look = "cat /sys/fs/cgroup/wblab-live-*/memory.high; cut -d: -f3 /proc/self/cgroup; ionice; "
    command = live_command(options, command=look + DD)
    return in_guest(shared_lab, f"{STATE} state > before; {command}; state > after")


@pytest.fixture(scope="module")
def live(outer) -> Run:
    (path,) = (outer[0] / "live").iterdir()
    return read_run(path)


def test_a_live_run_restores_the_machine(outer):
    assert (outer[0] / "before").read_text() == (outer[0] / "after").read_text()


def test_a_live_run_prints_its_directory(outer, live):
    assert outer[1].endswith(f"{OUT}/live/{live.path.name}\n")


def test_the_record_describes_the_machine_during_the_run(live):
    assert live.record["kind"] == "live"
    assert (live.spec.disk.device, live.spec.disk.filesystem, live.spec.disk.scheduler) == ("/dev/ubda", "ext4", "bfq")
    assert live.spec.cgroup == {"memory.high": "40M"}
    assert live.load("sh").load.ioclass == "idle"
    said = live.record["live"]
    assert (said["device"], said["lost_events"], said["command"]["exit_code"]) == ("ubda", 0, 0)
    assert 0.8 < said["traffic"]["written_per_busy_s"] / (1 << 20) < 1.1  # the disk's rate


def test_the_command_ran_in_its_group_with_its_io_class(live):
    limit, group, ioclass = (live.path / "command.log").read_text().splitlines()[:3]
    assert (int(limit), ioclass) == (40 << 20, "idle")
    assert group.startswith("/wblab-live-")


def test_the_lock_up_is_measured(live):
    pauses = {item.name: item for item in pause_report(live).loads}
    assert pauses["mw1"].longest_pause_s > 0.5
    assert pauses["c1"].longest_pause_s < pauses["mw1"].longest_pause_s  # it is late only if the host is busy
    cache = page_cache(live)
    state = cache.dirty_state
    command = live.load("sh")
    assert (command.boundaries_ns[1] < state.ts_ns).sum() > 100
    assert live.zero_ns < state.ts_ns[0] < state.ts_ns[-1] < live.load("c1").boundaries_ns[-1] + S
    assert (state.dirty + state.writeback).max() > 0.9 * state.background.max()
    assert "dd" in set(cache.throttling.task)
    assert cache.lost_ns == ()


def test_a_capture_has_all_events_of_its_pause(live):
    assert 0 < live.record["live"]["captures"] == len(captures(live))
    assert not [note for note in live.record["live"]["notes"] if "system calls" not in note]  # else it begins too late
    capture = captures(live)[0]  # of w1 or mw1, which pause at once: the guest's Python decides which is seen first
    item = live.load(capture.load)
    index = int(np.searchsorted(item.boundaries_ns, capture.pause.start_ns))
    assert (item.boundaries_ns[index], item.pauses_ns[index]) == (capture.pause.start_ns, capture.pause.duration_ns)
    trace = page_cache(live, capture.path).trace
    systems = {name.partition(":")[0] for name in trace.formats if trace.counts().get(name.partition(":")[2])}
    assert {"writeback", "block", "ext4", "jbd2", "sched"} <= systems
    if not live.record["live"]["notes"]:
        call = {"write": "sys_enter_write", "multiwrite": "sys_enter_openat"}[item.load.kind]
        assert item.pid in trace.events(call).pid


def test_a_capture_and_a_guest_trace_explain_a_pause_alike(live):
    told = [item.explanation for item in explanations(live, "mw1", 500 * MS)]
    paused_ns = sum(item.pause_ns for item in told)
    assert paused_ns
    assert sum(item.unknown_ns for item in told) < 0.05 * paused_ns
    longest = max(told, key=lambda item: item.pause_ns)
    assert longest.causes[0].time_ns > 0.5 * longest.pause_ns
    assert any(cause.functions for cause in longest.causes)


def test_all_analyses_accept_a_live_run(live, tmp_path):
    window = around(live, "longest")
    capture = capture_of(live, window)
    save(picture(timeline(live, page_cache(live))), live.name, tmp_path / "whole.png")
    save(
        picture(timeline(live, page_cache(live, capture.path if capture else None), window=window)),
        live.name,
        tmp_path / "near.png",
    )
    assert export(live, page_cache(live), 300 * MS)


@pytest.mark.parametrize("seed", range(2))
def test_kills_at_any_moment_leave_nothing_behind(lab, seed):
    options = "--scheduler ubda=bfq --cgroup memory.high=40M --capture-pauses 100ms --capture-buffer 1M"
    command = live_command(options, command=f"sleep 1000 & dd if=/dev/zero of={BIG} bs=64K count=160; sleep 9")
    chance = random.Random(seed)
    kills = "".join(
        f"{command} & sleep {chance.uniform(0, 12):.3f}; kill -9 $!; wait $!; sleep 30; rm -f {BIG}; state > after{n};"
        for n in range(3)
    )
    out, said = in_guest(lab, f"{STATE} state > before; {kills}")
    before = (out / "before").read_text()
    assert all(path.name.startswith("_") for path in (out / "live").iterdir()), said  # none had finished
    assert "Traceback" not in said
    assert [(out / f"after{n}").read_text() for n in range(3)] == [before] * 3


def test_another_tracer_is_not_disturbed(lab):
    others = "cd /sys/kernel/tracing; echo 1 > events/sched/sched_process_exit/enable; echo mine > trace_marker;"
    after = "cat set_event; grep -c mine trace"
    out, said = in_guest(lab, f"{others} {live_command(command='true')}; {after}")
    assert said.splitlines()[-2:] == ["sched:sched_process_exit", "1"]
    (path,) = (out / "live").iterdir()
    assert "sched_process_exit" not in page_cache(read_run(path)).counts
