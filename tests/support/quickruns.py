"""Experiments of a few guest seconds, about one second of host time: for tests that make many runs."""

SECONDS = (
    *("disk.size=64MiB", "trace.buffer=16M", "sysctl.vm.dirty_ratio=10", "sysctl.vm.dirty_background_ratio=5"),
    *("load.l1.wait=1s", "load.l1.size=4MiB", "load.l2.wait=2s", "load.l2.size=512KiB"),
)
# A preset, and the settings changed in it.
FIXTURES = {
    "ext4-throttle": ("base", SECONDS),
    "ext4-device": ("base-device", SECONDS),
    "xfs-throttle": ("base", (*SECONDS, "disk.filesystem=xfs", "disk.size=300MiB")),
}
