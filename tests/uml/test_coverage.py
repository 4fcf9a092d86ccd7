"""The share of the paused time that the two stacks explain, on various disks, filesystems and limits."""

import pytest

from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded

BOUND_NS = 100_000_000
LEAST = 0.95
XFS = ("disk.filesystem=xfs", "disk.size=320MiB")
SHORT = ("load.l1.size=4MiB", "load.l1.wait=2s", "load.l2.size=1MiB", "load.l2.wait=8s")  # a sync mount is slow
OFF = "cgroup.off={{loads=['l1', 'l2'], files={{'{file}'='{text}'}}}}"
RUNS = {
    "base": ("base", ()),
    "ext2": ("base-ext2", ()),
    "xfs": ("base", XFS),
    "xfs-device": ("base-device", XFS),
    "journal": ("base-device", ("disk.mount_options=['data=journal']",)),
    "sync": ("base-sync", SHORT),
    **{
        f"device-{name}": ("base-device", (f"disk.scheduler={name}",))
        for name in ("none", "mq-deadline", "kyber", "bfq")
    },
    "wbt": ("base-device", ("disk.queue.wbt_lat_usec=75000",)),
    "memory.high": ("base-device", (OFF.format(file="memory.high", text="8M"),)),
    "io.max": ("base-device", (OFF.format(file="io.max", text="{disk} wbps=524288"),)),
    "two-disks": ("two-disks", ()),
    "commit": ("commit", ()),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", RUNS)
def test_nearly_all_of_the_paused_time_is_explained(shared_lab, name):
    preset, settings = RUNS[name]
    run = shared_lab.run(preset, *settings)
    found = explain(run, read_recorded(run), bound_ns=BOUND_NS)
    paused_ns = sum(item.pause_ns for item in found)
    assert paused_ns > 10 * BOUND_NS
    unknown_ns = sum(item.unknown_ns for item in found)
    assert unknown_ns <= (1 - LEAST) * paused_ns
    links_ns = sum(chain.time_ns for item in found for chain in item.chains if chain.end == "unknown")
    assert links_ns <= 2 * (1 - LEAST) * paused_ns
