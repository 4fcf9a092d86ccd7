"""Limits of dirty memory that are not the machine's, and of a group's memory, in runs that are built to be at them."""

from dataclasses import replace

import pytest
from support.lottery import some

from wblab.analysis.why.explain import explain
from wblab.analysis.why.recorded import read_recorded
from wblab.kernels import catalog, find_kernel
from wblab.lab.oomkills import oom_kills

MIB = 1 << 20
STRICT = (
    *("disk.bdi={strict_limit=1,max_ratio=2}", "disk.write_bps=20MB/s", "load.l1.size=40MiB", "load.l2.size=4KiB"),
    "load.w2={kind='write',file='w2',idle='50ms',block='64KiB'}",
)
GROUP = (
    *("memory=600MiB", "disk.size=260MiB", "disk.write_bps=10MB/s", "load.l1.size=80MiB", "load.l2.size=4KiB"),
    *("disk.queue={wbt_lat_usec=0}", "load.w2={kind='write',file='w2',idle='20ms',block='4KiB'}"),
    "cgroup.box={loads=['w2','l1'],files={'memory.high'=67108864,'io.max'='{disk} wbps=max'}}",
)
FULL = "{loads=['hog'],files={'memory.max'=25165824}}"
TAKES = "python3 -c 'b = bytearray(60 << 20)[::4096]' ; true"


def throttled(run, of):
    """Return the causes of pauses over 50 ms by a limit of this kind, and of pauses by all limits."""
    found = explain(run, read_recorded(run), bound_ns=50_000_000)
    causes = [cause for item in found for cause in item.causes if cause.kind == "throttled"]
    return [cause for cause in causes if cause.limit.of == of], causes


def test_a_strict_limit_is_told_as_the_disks(shared_lab):
    run = shared_lab.run("base-device", *STRICT)
    own, causes = throttled(run, "disk")
    assert own
    assert own == causes
    assert all(next(iter(cause.dirty)) == "l1" for cause in own if cause.time_ns > 100_000_000)
    assert all(cause.limit.size < 2 * MIB for cause in own)


def test_a_groups_limit_is_told_as_the_groups(shared_lab):
    run = shared_lab.run("base-device", *GROUP)
    own, _ = throttled(run, "group")
    assert own
    assert {(cause.limit.name, cause.limit.set_by) for cause in own} == {("box", ("cgroup.box.files.memory.high",))}
    assert any(next(iter(cause.dirty)) == "l1" for cause in own)


def test_what_others_write_does_not_count_for_a_groups_limit(shared_lab):
    outside = ("load.l2.size=60MiB", "load.l2.wait=4s")
    own, _ = throttled(shared_lab.run("base-device", *GROUP, *outside), "group")
    assert any(cause.worked for cause in own)
    assert [cause for cause in own if "l2" in cause.worked or "l2" in cause.dirty] == []


@pytest.mark.parametrize("series", some([entry.name for entry in catalog.load().series], 1), indirect=True)
def test_a_guest_goes_on_after_programs_of_a_full_group_were_killed(shared_lab, series):
    hog = f"{{kind='repeat',idle='1s',argv=['sh','-c',{TAKES!r}]}}".replace('"', '"""')
    lab = replace(shared_lab, kernel=find_kernel(series))
    run = lab.run("base", "load.l1.size=2MiB", "load.l2.size=4KiB", f"cgroup.box={FULL}", f"load.hog={hog}")
    kills = oom_kills(run.path)
    assert len(kills) > 3
    assert {(kill.task, kill.group, kill.limit) for kill in kills} == {("python3", "box", 24 * MIB)}
