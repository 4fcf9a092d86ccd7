"""Settings that fit a kind of wait: each makes a spec that can run, and none is in the spec already."""

from dataclasses import replace

import pytest

from wblab.core.check import check_spec
from wblab.core.spec import Cgroup, Phase
from wblab.lab.places import PRESETS
from wblab.lab.specfile import read_spec
from wblab.study.designs.prove.candidates import candidates

SPECS = {
    name: read_spec(PRESETS / f"{name}.toml")
    for name in ("base", "base-device", "two-disks", "loop", "mirror", "loop-device", "crypt", "served", "commit")
}
BASE = read_spec(PRESETS / "base-device.toml", ["disk.queue.wbt_lat_usec=0"])


def shorts(spec, wait="queue", disk="disk", culprits=("l1",), stalled=("w1",)):
    return [item.short for item in candidates(spec, wait, disk, culprits, stalled)]


@pytest.mark.parametrize("name", SPECS)
def test_each_candidate_is_a_spec_that_can_run(name):
    spec = SPECS[name]
    found = candidates(spec, "queue", spec.first_disk, (spec.offenders[0],), (spec.stops[-1],))
    assert found
    for item in found:
        check_spec(item.change.applied(spec, 0))


def test_a_queue_is_shortened_first_and_the_levers_that_were_mute_are_there():
    found = shorts(BASE)
    assert found[0] == "queue of 512 KiB"
    assert {"BFQ and idle class", "BFQ and io.bfq.weight", "journal of 4 MiB", "own dirty limit", "WBT"} <= {*found}
    assert "WBT" not in shorts(SPECS["base-device"])  # which has it, as Linux sets it up


def test_what_is_set_for_one_leg_of_a_mirror_is_set_for_both():
    mirror = SPECS["mirror"]
    (whole,) = (name for name, disk in mirror.disk.items() if disk.on)
    legs = list(mirror.disk[whole].on)
    queue = candidates(mirror, "queue", legs[0], mirror.offenders, mirror.stops[-1:])[0]
    assert queue.settings == tuple(f"disk.{leg}.queue.nr_requests=4" for leg in legs)
    assert "own dirty limit" in shorts(mirror, disk=legs[0], stalled=mirror.stops[-1:])


def test_a_limit_for_the_whole_disk_has_a_queue_that_only_the_dirty_limit_bounds():
    assert shorts(SPECS["base"])[0] == "dirty limit of 4 MiB"


def test_a_loop_has_a_queue_of_its_own_to_be_short_with_direct_io():
    spec = SPECS["loop-device"]
    found = shorts(spec, disk="host", culprits=("copy",), stalled=("db-image",))
    assert found[:3] == ["direct I/O and queue of 512 KiB", "direct I/O", "queue of 512 KiB"]
    direct = replace(spec, disk=spec.disk | {"image": replace(spec.disk["image"], direct_io=True)})
    assert shorts(direct, disk="host", culprits=("copy",), stalled=("db-image",))[0] == "loop's queue of 512 KiB"


def test_an_encrypted_disk_has_queues_of_its_own_to_go_without():
    spec = SPECS["crypt"]
    found = candidates(spec, "queue", "below", ("copy",), ("db",))
    assert [item.short for item in found[:2]] == ["no_write_workqueue and queue of 512 KiB", "no_write_workqueue"]
    assert found[1].settings == ("disk.secret.workqueues=reads",)
    without = replace(spec, disk=spec.disk | {"secret": replace(spec.disk["secret"], workqueues="reads")})
    assert "no_write_workqueue" not in shorts(without, disk="below", culprits=("copy",), stalled=("db",))


def test_a_fast_writer_may_sync_after_each_portion_of_half_a_second_of_its_disk():
    spec = SPECS["commit"]
    (item,) = (item for item in candidates(spec, "queue", "disk", ("l1",), ("k1",)) if item.stand_ins)
    made = item.change.applied(spec, 0)
    new, paced = made.load["l1-paced"], spec.load["l1"]
    assert (new.block, new.block * new.count, new.start) == (4 << 20, paced.size, paced.wait)
    assert item.stand_ins == (("l1", "l1-paced", (4 << 20) / paced.block),)
    ends_ns = made.load["l1"].wait + made.load["l1"].idle  # the run lasts until it is through, at the disk's rate
    assert ends_ns >= paced.wait + paced.size * 10**9 // spec.disk["disk"].write_bps
    assert "fdatasync after portions" not in shorts(spec, culprits=("k2",), stalled=("k1",))
    grouped = replace(spec, cgroup={"g": Cgroup(loads=("l1",))})
    assert "fdatasync after portions" not in shorts(grouped, culprits=("l1",), stalled=("k1",))


def test_memory_may_be_swapped_to_zram_instead_of_a_file_or_a_disk():
    file = read_spec(PRESETS / "swap.toml")
    own = read_spec(PRESETS / "swap.toml", ["disk.swap={model='device', size='64MiB', driver='sd', filesystem='swap'}"])
    for spec in (file, own):
        item = candidates(spec, "queue", "card", ("browser",), ("editor",))[0]
        assert item.short == "zram"
        assert item.change.applied(spec, 0).disk["swap"].model == "zram"


def test_a_mount_is_called_a_mount_and_no_disk():
    spec = SPECS["served"]
    found = candidates(spec, "queue", "nas", ("l1",), ("mw-nas",))
    own = [item.what for item in found if item.short == "no own dirty limit"]
    free = replace(spec, disk=spec.disk | {"nas": replace(spec.disk["nas"], bdi={"strict_limit": 0})})
    own += [item.what for item in candidates(free, "queue", "nas", ("l1",), ("mw-nas",)) if "own" in item.short]
    assert any("the mount *nas*" in what for what in own)
    assert not any("the disk *nas*" in item.what for item in found)


def test_what_the_run_has_already_is_no_candidate():
    disk = replace(BASE.disk["disk"], queue={"nr_requests": 2, "wbt_lat_usec": 75000}, bdi={"strict_limit": 1})
    low = {"vm.dirty_bytes": 1 << 20, "vm.dirty_background_bytes": 1 << 19}
    there = replace(BASE, disk={"disk": disk}, sysctl=low)
    assert {"queue of 512 KiB", "WBT", "own dirty limit", "dirty limit of 4 MiB"}.isdisjoint(shorts(there))


def test_priorities_and_groups_need_somebody_else_to_blame():
    found = shorts(BASE, culprits=("w1",))
    assert "BFQ" in found
    assert {"BFQ and idle class", "io.max", "memory.high"}.isdisjoint(found)


def test_a_group_with_a_stalled_load_in_it_gets_no_limit():
    together = replace(BASE, cgroup={"box": Cgroup(loads=("w1", "l1"), files={"memory.max": "max"})})
    assert {"io.max", "memory.high"}.isdisjoint(shorts(together))
    alone = replace(BASE, cgroup={"box": Cgroup(loads=("l1",), files={"memory.max": "max"})})
    assert {"io.max", "memory.high"} <= {*shorts(alone)}


def test_limits_of_the_stalled_load_are_lifted_first_also_those_of_phases():
    files = {"io.max": "{disk} wbps=32768", "memory.max": "max"}
    spec = replace(
        BASE,
        cgroup={"box": Cgroup(loads=("w1",), files={"memory.high": 1 << 24})},
        phase={"p": Phase(at=4 * 10**9, cgroup={"box": Cgroup(files=files)})},
    )
    first, second, *_ = candidates(spec, "queue", "disk", (), ("w1",))
    assert first.settings == ("cgroup.box.files.memory.high=max",)
    assert second.settings == ("phase.p.cgroup.box.files.io.max={disk} rbps=max wbps=max riops=max wiops=max",)
    assert second.change.applied(spec, 0).phase["p"].cgroup["box"].files["io.max"].endswith("wiops=max")
    assert "no memory.high" not in shorts(spec, stalled=("mw1",))


def test_a_low_weight_an_idle_class_and_a_low_dirty_limit_of_ones_own_are_lifted():
    box = Cgroup(loads=("w1",), files={"io.bfq.weight": 10, "io.weight": "default 500"})
    load = BASE.load | {"w1": replace(BASE.load["w1"], ioclass="idle")}
    spec = replace(BASE, cgroup={"box": box}, load=load, sysctl={"vm.dirty_bytes": 1 << 20})
    found = [item for item in candidates(spec, "limit", "disk", (), ("w1",)) if item.is_lift]
    assert [item.short for item in found] == ["no io.bfq.weight", "no idle class", "dirty limit of 20 %"]
    assert found[0].settings == ("cgroup.box.files.io.bfq.weight=100",)


def test_a_processor_is_shared_by_cpu_max_and_a_timer_has_no_remedy():
    assert shorts(BASE, wait="processor") == ["cpu.max"]
    assert shorts(BASE, wait="other", culprits=()) == []


def test_mount_options_that_make_calls_wait_are_left_out():
    disk = replace(BASE.disk["disk"], mount_options=("strictatime", "nodelalloc"))
    first, *_ = candidates(replace(BASE, disk={"disk": disk}), "other", "disk", (), ("w1",))
    assert (first.short, first.settings) == ("no strictatime", ('disk.mount_options=["nodelalloc"]',))


def test_a_journal_may_leave_the_order_of_data_to_the_flusher():
    assert "data=writeback" in shorts(BASE)
    journal = replace(BASE.disk["disk"], mount_options=("data=journal",))
    assert "data=writeback" not in shorts(replace(BASE, disk={"disk": journal}))
    assert "data=writeback" not in shorts(replace(BASE, disk={"disk": replace(journal, filesystem="xfs")}))


def test_credits_and_a_limit_of_requests_are_lifted_first():
    disk = replace(BASE.disk["disk"], burst_bytes=16 << 20, sustained_bps=1 << 20, iops=40)
    first, second, *_ = candidates(replace(BASE, disk={"disk": disk}), "queue", "disk", ("l1",), ("w1",))
    assert first.settings == ("disk.burst_bytes=0", "disk.sustained_bps=0")
    assert (second.settings, second.what) == (
        ("disk.iops=0",),
        "without the limit of the disk, 40 requests per second",
    )
    assert first.is_lift
    assert second.is_lift
