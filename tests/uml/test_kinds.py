"""Runs in which only one kind of wait can occur, which must be named, and runs in which the disk is not the cause."""

import pytest
from support.lottery import some

from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded

BOUND_NS = 100_000_000
C1 = "c1={kind='control', idle='50ms'}"
L1 = "l1={kind='load', file='l1', wait='2s', size='24MiB', block='4KiB'}"
# Higher limits than all loads write: no writer is throttled.
ROOMY = ("sysctl.vm.dirty_ratio=80", "sysctl.vm.dirty_background_ratio=4", "trace.lead=1s")
RAW = ("disk.filesystem=none", "disk.scheduler=none")


def loads(*tables):
    return f"load={{{', '.join((C1, *tables))}}}"


def lasts(seconds):
    """Return a load that writes one block after so many seconds, which makes the run last that long."""
    return f"l2={{kind='load', file='l2', wait='{seconds}s', size='4KiB', block='4KiB'}}"


MW1 = "mw1={kind='multiwrite', file='mw1', idle='100ms'}"
LAST = lasts(20)
RAW_LAST = "l1={kind='rawload', size='4KiB', wait='8s', offset='60MiB'}"
GROWS = "k1={kind='commit', file='k1', idle='100ms'}"
STAYS = "k1={kind='commit', file='k1', idle='100ms', size='64KiB'}"
DIRECT = "{{kind='raw', size='1MiB', idle='20ms', op='write', through='direct', block='16KiB', offset='{0}MiB'}}"
SYNCED = "{{kind='syncwrite', file='k{0}', idle='20ms', block='16KiB', size='256KiB', method='sync_file_range'}}"
CASES = {
    "throttled": ("base", ("trace.lead=1s", loads(MW1, L1.replace("24MiB", "32MiB")))),
    "journal writes block": ("base-device", (*ROOMY, loads(MW1, L1, LAST))),
    "commit": (
        "base-device",
        (*ROOMY, "disk.mount_options=['data=journal']", "disk.write_bps=64KiB/s", loads(GROWS, LAST)),
    ),
    "journal full": (
        "base-device",
        (
            *(*ROOMY, "disk.mkfs_options=['-b', '1024', '-J', 'size=1']", "disk.mount_options=['data=journal']"),
            loads("w1={kind='write', file='w1', idle='50ms', block='256KiB'}", lasts(12)),
        ),
    ),
    "folio under writeback": (
        "base-device",
        (*ROOMY, "disk.mount_options=['nobarrier', 'lazytime']", loads(STAYS, L1, LAST)),
    ),
    "folio locked": (
        "base-device",
        (
            *(*ROOMY, "disk.write_bps=64KiB/s"),
            loads("r1={kind='read', file='r1', size='1MiB', idle='50ms', cache='cold', block='16KiB'}", lasts(12)),
        ),
    ),
    "buffer": (
        "base-device",
        (
            *(*ROOMY, "disk.filesystem=ext2", "disk.mount_options=['sync', 'nobarrier']", "disk.write_bps=8KiB/s"),
            loads(MW1, lasts(12)),
        ),
    ),
    "flush": (
        "base-device",
        (
            *(*ROOMY, "disk.driver=sata", "disk.mount_options=['lazytime']"),
            *("disk.cache_bytes=4MiB", "disk.drain_bps=64KiB/s"),
            loads("k1={kind='commit', file='k1', idle='50ms', size='256KiB', block='64KiB'}", lasts(12)),
        ),
    ),
    "flusher": (
        "base-device",
        (
            *(*ROOMY, "disk.driver=ubd", "disk.mkfs_options=['-b', '1024']"),
            loads("s1={kind='syncfs', idle='500ms'}", L1.replace("24MiB", "4MiB"), LAST),
        ),
    ),
    "request": (
        "base-device",
        (
            *(*ROOMY, *RAW, "disk.write_bps=256KiB/s", "disk.queue={nr_requests=4, wbt_lat_usec=0}"),
            loads(*(f"r{number}={DIRECT.format(number)}" for number in range(1, 13)), RAW_LAST),
        ),
    ),
    "direct write": (
        "base-device",
        (*ROOMY, *RAW, "disk.write_bps=64KiB/s", loads(f"r1={DIRECT.format(0)}", RAW_LAST)),
    ),
    "direct read": (
        "base-device",
        (*ROOMY, *RAW, "disk.write_bps=64KiB/s", loads(f"r1={DIRECT.format(0).replace('write', 'read')}", RAW_LAST)),
    ),
    "write-back throttling": (
        "base-device",
        (
            *(*ROOMY, "disk.driver=ubd", "disk.filesystem=ext2", "disk.scheduler=none", "disk.write_bps=256KiB/s"),
            "disk.queue={nr_requests=4, wbt_lat_usec=100000}",
            loads(*(f"k{number}={SYNCED.format(number)}" for number in range(1, 13)), lasts(10)),
        ),
    ),
    "reclaim": (
        "base-device",
        (
            *(*ROOMY, "cgroup.tight={loads=['w1'], files={'memory.high'='1M'}}"),
            loads("w1={kind='write', file='w1', idle='50ms', block='256KiB'}", lasts(12)),
        ),
    ),
    "lock": (
        "base",
        (
            *("trace.lead=1s", "kernel.parameters.page_cache_max_order=0"),  # w1 waits for l1, not for its own pages
            loads("w1={kind='write', file='l1', idle='100ms'}", L1.replace("24MiB", "32MiB").replace("4KiB", "1MiB")),
        ),
    ),
    "XFS block": (
        "base-device",
        (
            *(*ROOMY, "disk.filesystem=xfs", "disk.size=300MiB", "disk.write_bps=16KiB/s"),
            *("phase.cold={at='4s', sysctl={'vm.drop_caches'=3}}", loads(MW1, lasts(10))),
        ),
    ),
}


# Calls that also include another kind of wait: data are written before a flush or a commit, and a load that waited for
# a free request then waits for that request.
BESIDES = {
    "buffer": "folio under writeback",
    "commit": "folio under writeback",
    "flush": "folio under writeback",
    "flusher": "folio under writeback",
    "request": "direct write",
    "write-back throttling": "folio under writeback",
}


@pytest.mark.parametrize("kind", some(CASES, 7))
def test_the_only_possible_kind_of_wait_is_named(shared_lab, kind):
    preset, settings = CASES[kind]
    run = shared_lab.run(preset, *settings)
    found = [item for item in explain(run, read_recorded(run), bound_ns=BOUND_NS) if item.load != "c1"]
    paused_ns = sum(item.pause_ns for item in found)
    parts = {name: sum(item.parts.get(name, 0) for item in found) for item in found for name in item.parts}
    assert paused_ns > 3 * BOUND_NS
    assert max(parts, key=parts.__getitem__) == kind, parts
    assert parts[kind] + parts.get(BESIDES.get(kind, ""), 0) > 0.9 * paused_ns, parts
    assert parts.get("unknown", 0) < 0.05 * paused_ns
    assert not any(item.blame == "not writeback" for item in found if item.parts.get(kind, 0) > BOUND_NS)


# A limit that delays requests has no kind of wait: a task that waits for the request sleeps as for any other request.
LIMITS = {
    "io.max": (*RAW, "cgroup.slow={loads=['r1'], files={'io.max'='{disk} wbps=32768'}}"),
    "delay": (
        "disk={a={size='64MiB', filesystem='none', model='device', write_bps='1MiB/s'}, "
        "slow={filesystem='none', model='delay', on=['a'], delay='300ms'}}",
    ),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_appears_as_the_delayed_request(shared_lab, limit):
    run = shared_lab.run("base-device", *ROOMY, *LIMITS[limit], loads(f"r1={DIRECT.format(0)}", RAW_LAST))
    found = explain(run, read_recorded(run), "r1", BOUND_NS)
    assert len(found) > 3
    assert all(item.parts["direct write"] > 0.9 * item.pause_ns for item in found)
    assert all(item.chains[0].end == "request" for item in found)


REMOVES = "p1={kind='repeat', argv=['sh', '-c', 'head -c 12000000 /dev/zero > f; sleep 2.5; rm f'], idle='1s'}"
# Kinds of wait that occur not in a load of the lab but in the task that holds it.
HELD = {
    "inode under writeback": (
        "base-device",
        (
            *(*ROOMY, "disk.filesystem=ext2", "disk.scheduler=none", "disk.queue={nr_requests=4, wbt_lat_usec=0}"),
            *("sysctl.vm.dirty_writeback_centisecs=100", "sysctl.vm.dirty_expire_centisecs=100"),
            loads(REMOVES, lasts(15)),
        ),
        "p1's rm",
    ),
    "log write": (
        "base-device",
        (
            *(*ROOMY, "disk.filesystem=xfs", "disk.size=300MiB", "disk.write_bps=16KiB/s"),
            loads("k1={kind='commit', file='k1', idle='50ms', block='512'}", lasts(15)),
        ),
        "k1",
    ),
}


@pytest.mark.parametrize("kind", HELD)
def test_a_kind_of_wait_inside_a_chain_is_named(shared_lab, kind):
    preset, settings, who = HELD[kind]
    run = shared_lab.run(preset, *settings)
    found = [item for item in explain(run, read_recorded(run), bound_ns=BOUND_NS) if item.load != "c1"]
    chains = [chain for item in found for chain in item.chains if (who, kind) in chain.links]
    assert sum(chain.time_ns for chain in chains) > BOUND_NS
    assert {chain.end for chain in chains if chain.time_ns > BOUND_NS} == {"request"}


def test_a_load_without_a_processor_is_not_blamed_on_writeback(shared_lab):
    group = "cgroup.slow={loads=['mw1'], files={'cpu.max'='1000 500000'}}"
    run = shared_lab.run("base-device", *ROOMY, loads(MW1, L1.replace("24MiB", "1MiB").replace("2s", "8s")), group)
    found = explain(run, read_recorded(run), "mw1", BOUND_NS)
    assert found
    assert all(item.blame == "not writeback" for item in found)
    assert all(item.parts["runnable"] > 0.9 * item.pause_ns for item in found)


def repeats(name, *argv):
    return f"{name}={{kind='repeat', argv={list(argv)}, idle='500ms'}}"


# The cause is another task, which sleeps while it holds a lock, or only sleeps.
NOT_WRITEBACK = {
    "a lock on a file": (
        (repeats("p1", "flock", "f", "true"), repeats("p2", "flock", "f", "sleep", "1")),
        (("p1's flock", "file lock"), ("p2's flock", "task"), ("p2's sleep", "asleep")),
    ),
    "its own sleep": ((repeats("p1", "sleep", "1"),), (("p1's sleep", "asleep"),)),
}


@pytest.mark.parametrize("what", NOT_WRITEBACK)
def test_a_load_held_by_another_task_is_not_blamed_on_writeback(shared_lab, what):
    tables, links = NOT_WRITEBACK[what]
    run = shared_lab.run("base-device", *ROOMY, loads(*tables, lasts(10)))
    found = explain(run, read_recorded(run), "p1", BOUND_NS)
    assert found
    assert all(item.blame == "not writeback" for item in found)
    longest = max((chain for item in found for chain in item.chains), key=lambda chain: chain.time_ns)
    assert (longest.links, longest.end) == ((("p1", "task"), *links), "asleep")
