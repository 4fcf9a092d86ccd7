"""Disks made of other disks: each behaves according to its components, and runs are reproducible."""

from pathlib import Path

import numpy as np
import pytest

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.names import unplug_s
from wblab.analysis.runs.pagecache import page_cache

SPEC = str(Path(__file__).with_name("stacks.toml"))
EVENTS = 'trace.events=["block:block_rq_complete"]'
S = 1_000_000_000


@pytest.fixture(scope="module")
def run(shared_lab):
    return shared_lab.run(SPEC, EVENTS)


def commit_s(run, name):
    """Return the duration of the first commits, before the offender starts."""
    return float(np.median(run.load(name).pauses_ns[5:20])) / S


def test_the_time_of_a_commit_follows_the_disk_s_components(run):
    assert commit_s(run, "on-slow") == pytest.approx(0.2, abs=0.03)  # data, then a flush: each waits
    assert commit_s(run, "on-memory") < 0.002
    assert 0.001 < commit_s(run, "on-file") < 0.1


def test_a_mirror_writes_everything_twice_at_the_rate_of_one_disk(run):
    start_ns = run.offender_starts_ns()["on-mirror"]
    written = page_cache(run).written
    sizes = {disk: int(written.size[(written.disk == disk) & (written.ts_ns > start_ns)].sum()) for disk in ("a", "b")}
    assert sizes["a"] == sizes["b"] > 4 << 20
    wrote_s = int(run.load("on-mirror").boundaries_ns[-1] - start_ns) / S + unplug_s(run)["on-mirror"]
    assert wrote_s == pytest.approx(2, rel=0.2)


def test_the_record_has_the_device_number_of_each_disk(run):
    majors = {name: disk.device.partition(":")[0] for name, disk in run.disks.items()}
    assert list(majors) == ["a", "b", "mirror", "c", "line", "slow", "memory", "file"]
    assert majors["a"] == majors["b"] == majors["c"] == "98"
    assert (majors["mirror"], majors["line"], majors["memory"], majors["file"]) == ("9", majors["slow"], "1", "7")
    assert len({disk.device for disk in run.disks.values()}) == 8
    assert [name for name, disk in run.disks.items() if disk.written_ns] == ["mirror", "slow", "memory", "file"]


def test_stacked_disks_are_reproducible_and_leave_nothing_behind(lab):
    first, second = (lab.run(SPEC, EVENTS) for _ in range(2))
    assert first_differences(first, second) == []
    assert lab.left_behind() == []


def test_a_queue_setting_rejected_by_an_array_is_named(lab):
    with pytest.raises(Exception, match=r"cannot set disk.mirror.md.nonsense to 1 in the guest"):
        lab.run(SPEC, "disk.mirror.md.nonsense=1")
