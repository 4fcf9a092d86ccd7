"""Every kind of load in a guest: it does its work there, and the same work again."""

import pytest

from wblab.data.difference import first_differences

QUIET = ("trace.events=[]", "disk.size=64MiB", "sysctl.vm.dirty_ratio=10", "sysctl.vm.dirty_background_ratio=5")
OFFENDER = "{kind='load', file='l1', wait='3s', size='2MiB', block='64KiB'}"
KINDS = {
    **{
        f"syncwrite-{method}": f"kind='syncwrite', file='x', idle='200ms', method='{method}'"
        for method in ("fsync", "fdatasync", "sync_file_range", "O_SYNC", "O_DSYNC", "O_DIRECT", "none")
    },
    "commit": "kind='commit', file='x', idle='200ms'",
    "commit-in-place": "kind='commit', file='x', idle='200ms', size='64KiB'",
    "syncfs": "kind='syncfs', idle='500ms'",
}


def settings(load):
    return (*QUIET, f"load={{c1={{kind='control', idle='50ms'}}, x={{{load}}}, l1={OFFENDER}}}")


@pytest.mark.parametrize("load", KINDS.values(), ids=KINDS)
def test_every_kind_runs_in_a_guest_and_repeats(shared_lab, load):
    first, second = (shared_lab.run("base-device", *settings(load)) for _ in range(2))
    assert [(item.name, item.end) for item in first.loads] == [("c1", "stopped"), ("x", "stopped"), ("l1", "finished")]
    assert len(first.load("x").durations_ns) > 2
    assert first_differences(first, second) == []
