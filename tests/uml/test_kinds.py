"""Runs in which only one kind of wait can occur: it is named. And some in which the disk is not to blame."""

import pytest

from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded

BOUND_NS = 100_000_000
C1 = "c1={kind='control', idle='50ms'}"
L1 = "l1={kind='load', file='l1', wait='2s', size='24MiB', block='4KiB'}"
# More room than all loads write: nobody is held back.
ROOMY = ("sysctl.vm.dirty_ratio=80", "sysctl.vm.dirty_background_ratio=4", "trace.lead=1s")
RAW = ("disk.filesystem=none", "disk.scheduler=none")


def loads(*tables):
    return f"load={{{', '.join((C1, *tables))}}}"


def lasts(seconds):
    """Return a load that does next to nothing, and that much later: so long the run lasts."""
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
            *(*ROOMY, "disk.mkfs_options=['-J', 'size=1']", "disk.mount_options=['data=journal']"),
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
            *(*ROOMY, "disk.mount_options=['lazytime']", "disk.cache_bytes=4MiB", "disk.drain_bps=64KiB/s"),
            loads("k1={kind='commit', file='k1', idle='50ms', size='256KiB', block='64KiB'}", lasts(12)),
        ),
    ),
    "flusher": ("base-device", (*ROOMY, loads("s1={kind='syncfs', idle='500ms'}", L1.replace("24MiB", "4MiB"), LAST))),
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
    "write-back throttling": (
        "base-device",
        (
            *(*ROOMY, "disk.filesystem=ext2", "disk.scheduler=none", "disk.write_bps=256KiB/s"),
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
            "trace.lead=1s",
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


# Those in which a wait of another kind belongs to the call: before a flush or a commit the data are written, a free
# request is then done.
BESIDES = {
    "buffer": "folio under writeback",
    "commit": "folio under writeback",
    "flush": "folio under writeback",
    "flusher": "folio under writeback",
    "request": "direct write",
    "write-back throttling": "folio under writeback",
}


@pytest.mark.parametrize("kind", CASES)
def test_the_only_kind_that_can_occur_is_named(shared_lab, kind):
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


# What holds requests back has no wait of its own: who waits for the request sleeps as for any other.
LIMITS = {
    "io.max": (*RAW, "cgroup.slow={loads=['r1'], files={'io.max'='{disk} wbps=32768'}}"),
    "delay": (
        "disk={a={size='64MiB', filesystem='none', model='device', write_bps='1MiB/s'}, "
        "slow={filesystem='none', model='delay', on=['a'], delay='300ms'}}",
    ),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_shows_as_the_request_that_it_holds_back(shared_lab, limit):
    run = shared_lab.run("base-device", *ROOMY, *LIMITS[limit], loads(f"r1={DIRECT.format(0)}", RAW_LAST))
    found = explain(run, read_recorded(run), "r1", BOUND_NS)
    assert len(found) > 3
    assert all(item.parts["direct write"] > 0.9 * item.pause_ns for item in found)
    assert all(item.chains[0].end == "request" for item in found)


REMOVES = "p1={kind='repeat', argv=['sh', '-c', 'head -c 12000000 /dev/zero > f; sleep 2.5; rm f'], idle='1s'}"
# Kinds that no load of the lab meets itself, but who holds it.
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
def test_a_kind_is_named_where_it_is_in_a_chain(shared_lab, kind):
    preset, settings, who = HELD[kind]
    run = shared_lab.run(preset, *settings)
    found = [item for item in explain(run, read_recorded(run), bound_ns=BOUND_NS) if item.load != "c1"]
    chains = [chain for item in found for chain in item.chains if (who, kind) in chain.links]
    assert sum(chain.time_ns for chain in chains) > BOUND_NS
    assert {chain.end for chain in chains if chain.time_ns > BOUND_NS} == {"request"}


def test_a_load_without_a_processor_was_not_stopped_by_the_disk(shared_lab):
    group = "cgroup.slow={loads=['mw1'], files={'cpu.max'='1000 500000'}}"
    run = shared_lab.run("base-device", *ROOMY, loads(MW1, L1.replace("24MiB", "1MiB").replace("2s", "8s")), group)
    found = explain(run, read_recorded(run), "mw1", BOUND_NS)
    assert found
    assert all(item.blame == "not writeback" for item in found)
    assert all(item.parts["runnable"] > 0.9 * item.pause_ns for item in found)


def repeats(name, *argv):
    return f"{name}={{kind='repeat', argv={list(argv)}, idle='500ms'}}"


# Nobody is to blame but another task: it sleeps with a lock in its hand, or just sleeps.
ACQUITTED = {
    "a lock on a file": (
        (repeats("p1", "flock", "f", "true"), repeats("p2", "flock", "f", "sleep", "1")),
        (("p1's flock", "file lock"), ("p2's flock", "task"), ("p2's sleep", "asleep")),
    ),
    "its own sleep": ((repeats("p1", "sleep", "1"),), (("p1's sleep", "asleep"),)),
}


@pytest.mark.parametrize("what", ACQUITTED)
def test_a_load_that_another_one_held_was_not_stopped_by_the_disk(shared_lab, what):
    tables, links = ACQUITTED[what]
    run = shared_lab.run("base-device", *ROOMY, loads(*tables, lasts(10)))
    found = explain(run, read_recorded(run), "p1", BOUND_NS)
    assert found
    assert all(item.blame == "not writeback" for item in found)
    longest = max((chain for item in found for chain in item.chains), key=lambda chain: chain.time_ns)
    assert (longest.links, longest.end) == ((("p1", "task"), *links), "asleep")
