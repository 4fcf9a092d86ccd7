"""Runs with a known cause of the stalls: `why` names that cause, or says that it is unknown."""

from pathlib import Path

import pytest

from wblab.analysis.why.account import CUT_OFF
from wblab.analysis.why.charges import MAPPER
from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.report.whyanswer import sentence
from wblab.report.whybehind import culprit
from wblab.report.whycause import groups

BOUND_NS = 300_000_000
CASES = Path(__file__).parent / "cases"
NO_L2 = "load.l2.size=4KiB"


def command(load, wait, script):
    quoted = script.replace("\\", "\\\\").replace('"', '\\"')
    return f"load.{load}={{kind='command', wait='{wait}', argv=['sh', '-c', \"{quoted}\"]}}"


def explained(lab, load, preset, *settings):
    run = lab.once(preset, *settings)
    found = explain(run, read_recorded(run), load, BOUND_NS)
    assert found
    return found


def test_polling_for_a_lock_does_not_exclude_writeback_as_the_cause(shared_lab):
    asks = "load.p1={kind='repeat', idle='200ms', argv=['sh', '-c', 'until mkdir k; do sleep 0.05; done; rmdir k']}"
    holds = "until mkdir k; do sleep 0.01; done; dd if=/dev/zero of=q bs=4k count=1 conv=fsync; rmdir k"
    held = f"load.p2={{kind='repeat', idle='100ms', argv=['sh', '-c', '{holds}']}}"
    found = explained(shared_lab, "p1", "base-device", asks, held)
    assert max(item.pause_ns for item in found) > 5 * BOUND_NS
    assert not [item for item in found if item.pause_ns > 5 * BOUND_NS and item.blame == "not writeback"]


LOOKS = {
    "at growing intervals": r"d=0.1\nwhile os.path.exists('busy'): time.sleep(d); d*=2",
    "with timeouts": r"e=threading.Event()\nwhile os.path.exists('busy'): e.wait(0.5)",
    "all the time": r"while os.path.exists('busy'): pass",
}


@pytest.mark.parametrize("how", LOOKS)
def test_who_removes_the_file_that_a_program_polls_for_is_named(shared_lab, how):
    writes = "open('busy', 'w'); g=os.open('b', 65); os.write(g, b'x'*4096); os.fsync(g); os.unlink('busy')"
    holds = f"b1={{kind='command', wait='3s', argv=['python3', '-c', \"import os; {writes}\"]}}"
    polls = rf"v1={{kind='repeat', idle='1s', argv=['python3', '-c', \"import os, time, threading\n{LOOKS[how]}\"]}}"
    fills = "l1={kind='load', file='l1', wait='2s', size='6MiB', block='4KiB'}"
    lasts = "z9={kind='load', file='z9', wait='20s', size='4KiB', block='4KiB'}"
    loads = f"load={{{fills}, {holds}, {polls}, {lasts}}}".replace('\\"', '"')
    found = explained(shared_lab, "v1", "base-device", loads, "trace.lead=1s", "sysctl.vm.dirty_background_ratio=2")
    longest = max(found, key=lambda item: item.pause_ns)
    (kept,) = longest.polling.kept
    assert (kept.load, kept.did, longest.blame) == ("b1", "removed busy", "writeback")
    assert next(iter(kept.request.ahead)) == "l1"
    assert longest.unexplained_ns < 0.05 * longest.pause_ns


def test_a_sync_cut_off_by_the_end_of_the_run_is_blamed_on_writeback(shared_lab):
    synced = "load.p1={kind='repeat', argv=['sync'], idle='200ms'}"
    found = explained(shared_lab, "p1", "base-device", synced)
    assert {item.blame for item in found} == {"writeback"}


def test_an_idle_xfs_worker_is_not_the_cause(shared_lab):
    synced = "load.s1={kind='syncwrite', file='s', idle='100ms'}"
    found = explained(shared_lab, "s1", "base-device", "disk.filesystem=xfs", "disk.size=320MiB", synced)
    assert {item.blame for item in found} == {"writeback"}
    assert sum(item.unexplained_ns for item in found) < 0.05 * sum(item.pause_ns for item in found)


# The load, the script that stops it, the part of the pause, and the verdict.
STOPPED = {
    "SIGSTOP": ("w1", "kill -STOP $(pgrep -x w1); sleep 2; kill -CONT $(pgrep -x w1); sleep 1", "stopped"),
    "cgroup.freeze": (
        "mw1",
        "sleep 1; cd $(find /sys/fs/cgroup -maxdepth 2 -name slow); echo 1 > cgroup.freeze; sleep 2; "
        "echo 0 > cgroup.freeze; sleep 1",
        "stopped",
    ),
    "fsfreeze": ("w1", "fsfreeze -f /mnt/disk; sleep 2; fsfreeze -u /mnt/disk; sleep 1", "frozen"),
}


@pytest.mark.parametrize("how", STOPPED)
def test_a_stopped_or_frozen_load_is_reported_as_such(shared_lab, how):
    load, script, part = STOPPED[how]
    group = "cgroup.slow={loads=['mw1'], files={'memory.max'='max'}}"
    (item,) = explained(shared_lab, load, "base-device", NO_L2, group, command("l1", "3s", script))
    assert item.parts[part] > 0.95 * item.pause_ns
    assert item.blame == {"stopped": "not writeback", "frozen": "not known"}[part]


def test_an_fcntl_lock_is_recognised(shared_lab):
    takes = "import fcntl, time; f = open('k', 'w'); fcntl.lockf(f, fcntl.LOCK_EX); time.sleep({0})"
    loads = [
        f"load.p{number}={{kind='repeat', idle='500ms', argv=['python3', '-c', \"{takes.format(held)}\"]}}"
        for number, held in enumerate((0, 1.5), 1)
    ]
    found = explained(
        shared_lab, "p1", "base-device", NO_L2, "load.l1={kind='command', wait='9s', argv=['true']}", *loads
    )
    assert {chain.links[1][1] for item in found for chain in item.chains if chain.time_ns > BOUND_NS} == {"file lock"}
    # The run's end may interrupt the last wait: nobody has released that lock yet.
    whole = [item for item in found if not any(chain.end == CUT_OFF for chain in item.chains)]
    assert len(whole) >= len(found) - 1
    assert sum(item.unexplained_ns for item in whole) < 0.01 * sum(item.pause_ns for item in whole)


def test_a_stalling_disk_is_reported(shared_lab):
    stalls = ("disk.stall_every=1MiB", "disk.stall_time=4s", "load.l1.size=4MiB", NO_L2)
    for item in explained(shared_lab, "w1", "base-device", *stalls):
        assert item.causes[0].request.still_ns > 0.7 * item.pause_ns


def test_a_disk_without_stalls_is_not_reported_as_stalling(shared_lab):
    found = explained(shared_lab, "w1", "base-device")
    requests = [request for item in found for request in (*item.requests, item.causes[0].request) if request]
    assert requests
    assert not [request for request in requests if request.still_ns]


def test_a_mapper_that_adds_2_ms_is_not_blamed_for_seconds_behind_others(shared_lab):
    delayed = (
        "disk={a={size='130MiB', filesystem='none', model='device', write_bps='1MiB/s', queue={wbt_lat_usec=0}}, "
        "top={filesystem='ext4', model='delay', on=['a'], delay='2ms'}}"
    )
    items = explained(shared_lab, "w1", "base-device", delayed, NO_L2)
    longest = max(items, key=lambda item: item.pause_ns)
    assert longest.pause_ns > 10 * BOUND_NS
    assert culprit(longest)[0].party == "l1"
    assert sum(one.time_ns for one in longest.charges if one.layer == MAPPER) < longest.pause_ns / 10


def test_who_holds_a_directory_s_lock_is_in_the_sentence_on_those_that_wait_for_it(shared_lab):
    """mw1 makes a file and waits for the journal, with the lock of the directory in which mw2 wants to make one."""
    beside = "load.mw2={kind='multiwrite', file='mw2', idle='70ms'}"
    run = shared_lab.once("base-device", beside, "disk.queue.wbt_lat_usec=0", NO_L2, "load.l1.size=20MiB")
    found = groups(explain(run, read_recorded(run), "", BOUND_NS))
    said = [(sentence(group), {item.load for item in group.items}) for group in found]
    (victims,) = [loads for text, loads in said if "held the lock of a directory that" in text]
    assert len(victims) == 1
    assert victims < {"mw1", "mw2"}


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (("disk.burst_bytes=16MiB", "disk.sustained_bps=1MiB/s"), "had used up its credits of 16 MiB, and did no more"),
        (("disk.iops=8",), "the disk was at its limit of 8 requests per second"),
    ],
)
def test_a_disk_at_a_limit_of_its_own_is_told(shared_lab, limit, said):
    settings = ("disk.write_bps=100MiB/s", "disk.queue.wbt_lat_usec=0", NO_L2, "load.l1.size=32MiB")
    synced = "load.s1={kind='commit', file='s1', idle='100ms'}"
    found = groups(explained(shared_lab, "s1", "base-device", *settings, *limit, synced))
    assert any(said in sentence(group) for group in found)


def test_data_that_another_program_drove_out_of_memory_are_told(shared_lab):
    run = shared_lab.once(str(CASES / "eater.toml"))
    (group, *_) = groups(explain(run, read_recorded(run), "v1", BOUND_NS))
    assert "; it had to read 160 KiB again, which had been dropped from memory." in sentence(group)


def test_who_called_sync_is_told_beside_whose_data_were_written_for_it(shared_lab):
    roomy = ("sysctl.vm.dirty_background_ratio=60", "sysctl.vm.dirty_ratio=80", "load.l1.size=8MiB", NO_L2)
    kept = "load.s1={kind='commit', file='s1', idle='200ms', size='64KiB'}"
    syncs = "load.y1={kind='command', wait='7s', argv=['sync']}"
    found = groups(explained(shared_lab, "s1", "base-device", *roomy, kept, syncs))
    said = [sentence(group) for group in found]
    assert any(text.endswith(" had called sync.") and "wrote that because y1" in text for text in said), said
