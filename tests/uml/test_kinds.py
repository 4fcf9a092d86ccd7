"""Runs in which only one kind of wait can occur: it is named. And one in which the disk is not to blame."""

import pytest

from wblab.why.explain import explain
from wblab.why.recorded import read_recorded

BOUND_NS = 100_000_000
C1 = "c1={kind='control', idle='50ms'}"
L1 = "l1={kind='load', file='l1', wait='2s', size='24MiB', block='4KiB'}"
# More room than all loads write: nobody is held back.
ROOMY = ("sysctl.vm.dirty_ratio=80", "sysctl.vm.dirty_background_ratio=4", "trace.lead=1s")


def loads(*tables):
    return f"load={{{', '.join((C1, *tables))}}}"


MW1 = "mw1={kind='multiwrite', file='mw1', idle='100ms'}"
LAST = "l2={kind='load', file='l2', wait='20s', size='4KiB', block='4KiB'}"  # so long it lasts
GROWS = "k1={kind='commit', file='k1', idle='100ms'}"
STAYS = "k1={kind='commit', file='k1', idle='100ms', size='64KiB'}"
CASES = {
    "throttled": ("base", ("trace.lead=1s", loads(MW1, L1.replace("24MiB", "32MiB")))),
    "journal writes block": ("base-device", (*ROOMY, loads(MW1, L1, LAST))),
    "commit": (
        "base-device",
        (*ROOMY, "disk.mount_options=['data=journal']", "disk.write_bps=64KiB/s", loads(GROWS, LAST)),
    ),
    "folio under writeback": (
        "base-device",
        (*ROOMY, "disk.mount_options=['nobarrier', 'lazytime']", loads(STAYS, L1, LAST)),
    ),
}


BESIDES = {"commit": "folio under writeback"}  # fdatasync waits for the data, and then for the commit


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
    assert not any(item.is_acquitted for item in found if item.parts.get(kind, 0) > BOUND_NS)


def test_a_load_without_a_processor_was_not_stopped_by_the_disk(shared_lab):
    group = "cgroup.slow={loads=['mw1'], files={'cpu.max'='1000 500000'}}"
    run = shared_lab.run("base-device", *ROOMY, loads(MW1, L1.replace("24MiB", "1MiB").replace("2s", "8s")), group)
    found = explain(run, read_recorded(run), "mw1", BOUND_NS)
    assert found
    assert all(item.is_acquitted for item in found)
    assert all(item.parts["runnable"] > 0.9 * item.pause_ns for item in found)
