"""Every kind of load in a guest: it does its work, reproducibly."""

import json

import pytest
import tracecmd
from support.lottery import draw, some

from wblab.analysis.runs.difference import first_differences

QUIET = ("trace.events=[]", "disk.size=64MiB", "sysctl.vm.dirty_ratio=10", "sysctl.vm.dirty_background_ratio=5")
REPEATED = 8  # kinds of load a day, all by make soak; the others run once
OFFENDER = "{kind='load', file='l1', wait='3s', size='2MiB', block='64KiB'}"
KINDS = {
    **{
        f"syncwrite-{method}": f"kind='syncwrite', file='x', idle='200ms', method='{method}'"
        for method in ("fsync", "fdatasync", "sync_file_range", "O_SYNC", "O_DSYNC", "O_DIRECT", "none")
    },
    "commit": "kind='commit', file='x', idle='200ms'",
    "commit-in-place": "kind='commit', file='x', idle='200ms', size='64KiB'",
    "syncfs": "kind='syncfs', idle='500ms'",
    **{
        f"read-{order}-{cache}": f"kind='read', file='x', size='1MiB', idle='100ms', order='{order}', cache='{cache}'"
        for order, cache in (("random", "cold"), ("sequential", "cold"), ("random", "warm"), ("random", "direct"))
    },
    "mapped": "kind='mapped', file='x', size='1MiB', idle='100ms'",
    "mapped-sync": "kind='mapped', file='x', size='1MiB', block='64KiB', idle='1s', order='sequential', msync='sync'",
    **{
        f"loop-{paradigm}": f"kind='loop', file='x', idle='50ms', paradigm='{paradigm}'"
        for paradigm in ("sync", "threads", "pipe", "aio", "io_uring", "mmap")
    },
    **{
        f"serve-{paradigm}-{store}": f"kind='serve', file='x', idle='50ms', paradigm='{paradigm}', store='{store}'"
        for paradigm, store in (
            *((paradigm, "files") for paradigm in ("sync", "threads", "aio", "io_uring", "mmap", "sendfile")),
            *((paradigm, store) for paradigm in ("threads", "io_uring") for store in ("packed", "cyclic")),
        )
    },
    "repeat": "kind='repeat', idle='500ms', argv=['sh', '-c', 'echo $$ >> x; sync x']",
}


def settings(load):
    return (*QUIET, f"load={{c1={{kind='control', idle='50ms'}}, x={{{load}}}, l1={OFFENDER}}}")


def runs_in_a_guest(lab, kind):
    run = lab.run("base-device", *settings(KINDS[kind]))
    assert [(item.name, item.end) for item in run.loads] == [("c1", "stopped"), ("x", "stopped"), ("l1", "finished")]
    assert len(run.load("x").durations_ns) > 2
    return run


@pytest.mark.parametrize("kind", some(KINDS, REPEATED))
def test_every_kind_of_load_is_reproducible(shared_lab, kind):
    assert first_differences(*(runs_in_a_guest(shared_lab, kind) for _ in range(2))) == []


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - draw(list(KINDS), REPEATED)))
def test_every_other_kind_of_load_runs_in_a_guest(shared_lab, kind):
    runs_in_a_guest(shared_lab, kind)


RAW = {
    "read": "kind='raw', size='1MiB', idle='100ms'",
    "read-direct": "kind='raw', size='1MiB', idle='100ms', through='direct'",
    "write": "kind='raw', size='1MiB', idle='100ms', op='write', offset='1MiB'",
    "write-direct": "kind='raw', size='1MiB', idle='100ms', op='write', order='sequential', through='direct'",
}


@pytest.mark.parametrize("kind", some(RAW, 2))
def test_raw_loads_run_on_a_device_and_are_reproducible(shared_lab, kind):
    offender = "{kind='rawload', wait='3s', size='2MiB', block='64KiB', offset='8MiB'}"
    loads = f"load={{c1={{kind='control', idle='50ms'}}, x={{{RAW[kind]}}}, l1={offender}}}"
    runs = [shared_lab.run("base-device", *QUIET, "disk.filesystem=none", loads) for _ in range(2)]
    assert [item.end for item in runs[0].loads] == ["stopped", "stopped", "finished"]
    assert len(runs[0].load("x").durations_ns) > 2
    assert first_differences(*runs) == []


def test_a_file_in_chunks_is_written_reproducibly(shared_lab):
    loads = "load={l1={kind='chunks', file='f', wait='1s', size='64KiB', order='3012', fsync='1000', density=140}}"
    runs = [shared_lab.run("base-device", *QUIET, loads) for _ in range(2)]
    assert (runs[0].load("l1").end, len(runs[0].load("l1").durations_ns)) == ("finished", 8)
    assert first_differences(*runs) == []


def test_a_cold_read_waits_for_the_disk_and_a_warm_one_does_not(shared_lab):
    def longest_ns(cache):
        load = f"kind='read', file='x', size='1MiB', idle='100ms', cache='{cache}'"
        return shared_lab.run("base-device", *settings(load), "disk.latency=10ms").load("x").pauses_ns[1:-1]

    assert longest_ns("cold").min() > 10_000_000
    assert longest_ns("direct").min() > 10_000_000
    assert longest_ns("warm").max() < 1_000_000


def test_the_seed_decides_random_choices(shared_lab):
    traced = 'trace.events=["block:block_rq_issue"]'
    load = "kind='read', file='x', size='1MiB', idle='100ms'"

    def sectors(seed):
        run = shared_lab.run("base-device", *settings(load), traced, f"seed={seed}")
        with tracecmd.TraceFile(run.path / "trace.dat") as trace:
            events = trace.events("block_rq_issue", ["sector"])
        return events["sector"][events["pid"] == run.load("x").pid].tolist()

    drawn = sectors(1)
    assert len(drawn) > 20
    assert drawn == sectors(1) != sectors(2)


def test_commits_and_reads_beside_an_offender_take_far_longer(shared_lab):
    run = shared_lab.run("commit", "trace.events=[]", "load.l1.size=32MiB", "load.l2.wait=20s")
    flood_ns = run.offender_starts_ns()["l1"]
    for name in ("k1", "k2", "r1"):
        item = run.load(name)
        before = item.pauses_ns[item.starts_ns + item.durations_ns < flood_ns]
        beside = item.pauses_ns[item.starts_ns + item.durations_ns >= flood_ns]
        assert len(before) > 50
        assert beside.max() > 10 * before.max(), name


def test_a_main_loop_stalls_beside_an_offender_unless_a_thread_writes_its_log(shared_lab):
    def longest_s(paradigm):
        load = f"kind='loop', file='x', idle='10ms', block='4KiB', paradigm='{paradigm}', room='16KiB'"
        offender = "load.l1={kind='load', file='l1', wait='3s', size='24MiB', block='64KiB'}"
        run = shared_lab.run("base", *settings(load), offender)
        record = json.loads((run.path / "load.x.json").read_text())
        return run.load("x").pauses_ns.max() / 1e9, record["dropped"]

    alone_s, dropped = longest_s("sync")
    assert (alone_s > 0.1, dropped) == (True, 0)
    for paradigm in ("threads", "pipe"):
        handed_s, dropped = longest_s(paradigm)
        assert handed_s < alone_s / 10
        assert dropped > 0
