"""A load that is stopped at some moment: up to that moment the run is identical to the original."""

import pytest

from wblab.analysis.runs.difference import first_differences

UNTIL_S = 4
SHORT = ("load.l1.size=32MiB", "load.l1.wait=1s", "load.l2.size=1MiB", "load.l2.wait=12s", "trace.lead=1s")


@pytest.fixture(scope="module")
def whole(shared_lab):
    return shared_lab.run("base-device", *SHORT)


@pytest.mark.parametrize("load", ["l1", "w1"])
def test_everything_before_the_stop_is_identical(shared_lab, whole, load):
    cut = shared_lab.run("base-device", *SHORT, f"load.{load}.until={UNTIL_S}s", "time_limit=8s")
    start_s = whole.zero_ns // (5 * 10**9) * 5
    differences = first_differences(whole, cut)
    assert start_s + UNTIL_S <= differences[0].at_s < start_s + UNTIL_S + 0.001
    item = cut.load(load)
    assert item.end == "halted"
    assert start_s + UNTIL_S <= item.boundaries_ns[-1] / 1e9 < start_s + UNTIL_S + 0.1
    others = [other for other in cut.loads if other.load.role != "offender" and other.name != load]
    assert all(other.boundaries_ns[-1] / 1e9 >= start_s + 8 for other in others)


# Each phase affects the loads at once: an empty cache, a short queue, an offender in the idle class and throttled.
PHASES = {
    "sysctl": ("phase.a.sysctl.vm.dirty_bytes=262144", "phase.a.sysctl.vm.drop_caches=3"),
    "queue": ("phase.a.disk.disk.queue={nr_requests=4, scheduler='bfq'}",),
    "mount": ("phase.a.disk.disk.mount_options=['nobarrier', 'commit=1']",),
    "class": ("phase.a.load.l1.ioclass=idle", "phase.a.load.w1={ioclass='realtime', iolevel=0}"),
    "group": (
        "phase.a.cgroup.slow={loads=['l1'], files={'memory.high'='4M', 'cpu.max'='1000 500000'}}",
        "time_limit=3600s",  # l1 takes a quarter of an hour
    ),
    "first group with a limit of its I/O": (
        "phase.a.cgroup.slow={loads=['l1'], files={'io.max'='{disk} wbps=262144'}}",
        "time_limit=3600s",
    ),
}


@pytest.mark.parametrize("phase", PHASES)
def test_everything_before_a_phase_is_identical(shared_lab, whole, phase):
    changed = shared_lab.run("base-device", *SHORT, f"phase.a.at={UNTIL_S}s", *PHASES[phase])
    start_s = whole.zero_ns // (5 * 10**9) * 5
    differences = first_differences(whole, changed)
    assert start_s + UNTIL_S <= differences[0].at_s < start_s + UNTIL_S + 0.001
    assert "l1" in {item.what.split()[1].rstrip(",") for item in differences}


def test_everything_before_another_phase_is_identical(shared_lab):
    phase = ("phase.a.at=2s", "phase.a.sysctl.vm.drop_caches=3")
    first = shared_lab.run("base-device", *SHORT, *phase)
    second = shared_lab.run("base-device", *SHORT, *phase, f"phase.b.at={UNTIL_S}s", *("phase.b.load.l1.ioclass=idle",))
    start_s = first.zero_ns // (5 * 10**9) * 5
    assert start_s + UNTIL_S <= first_differences(first, second)[0].at_s < start_s + UNTIL_S + 0.001
