"""Scaling from a recommendation's machine to a guest, and settings that exclude each other."""

from dataclasses import replace

from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.designs.trial.plan import background_bytes, guest_of, in_force, scalings, settings
from wblab.study.designs.trial.recommendations import Machine, Value, read_wisdom

MIB = 1 << 20
MACHINE = Machine(memory=16 << 30, write_bps=100 * MIB)
SCENARIO = read_wisdom().scenario["device"]
SPEC = read_spec(SPECS.find("base-device"))  # 100 MiB, 1 MiB/s


def scaled(way, **value):
    return settings(Value(name="it", **value), MACHINE, SPEC, SCENARIO, way)


def test_bytes_are_scaled_by_seconds_and_by_memory():
    sizes = {"vm.dirty_bytes": 600 * MIB, "vm.dirty_background_bytes": "300MiB"}
    assert guest_of(SPEC, SCENARIO) == Machine(memory=100 * MIB, write_bps=MIB)
    assert scaled("by seconds", sysctl=sizes) == {
        "sysctl.vm.dirty_ratio": 0,
        "sysctl.vm.dirty_bytes": 6 * MIB,
        "sysctl.vm.dirty_background_ratio": 0,
        "sysctl.vm.dirty_background_bytes": 3 * MIB,
    }
    by_memory = scaled("by memory", sysctl=sizes)
    assert by_memory["sysctl.vm.dirty_bytes"] == -(-600 * MIB * 100 // 16384 // 4096) * 4096


def test_a_ratio_is_kept_or_scaled_by_seconds():
    assert scaled("by memory", sysctl={"vm.dirty_ratio": 40}) == {"sysctl.vm.dirty_ratio": 40}
    found = scaled("by seconds", sysctl={"vm.dirty_ratio": 40})
    assert found["sysctl.vm.dirty_ratio"] == 0
    assert abs(found["sysctl.vm.dirty_bytes"] - 0.4 * 163.84 * MIB) < 4096


def test_the_limit_is_at_least_two_pages():
    assert scaled("by seconds", sysctl={"vm.dirty_bytes": 8192})["sysctl.vm.dirty_bytes"] == 8192
    assert scaled("by seconds", sysctl={"vm.dirty_background_bytes": 5})["sysctl.vm.dirty_background_bytes"] == 4096


def test_times_and_shares_of_the_limit_are_not_scaled():
    kept = {"vm.dirty_expire_centisecs": 60000}
    assert scaled("as it is", sysctl=kept) == {"sysctl.vm.dirty_expire_centisecs": 60000}
    assert scaled("as it is", bdi={"strict_limit": 1, "max_ratio": 5}) == {
        "disk.bdi.strict_limit": 1,
        "disk.bdi.max_ratio": 5,
    }
    assert scaled("by seconds", bdi={"max_bytes": "100MiB"}) == {"disk.bdi.max_bytes": MIB}


def test_mount_options_and_queues_apply_to_all_disks():
    scenario = read_wisdom().scenario["two-disks"]
    value = Value(name="it", mount=("commit=30",), queue={"wbt_lat_usec": 75000})
    assert settings(value, MACHINE, read_spec(SPECS.find("two-disks")), scenario, "as it is") == {
        "disk.slow.mount_options": ["commit=30"],
        "disk.slow.queue.wbt_lat_usec": 75000,
        "disk.fast.mount_options": ["commit=30"],
        "disk.fast.queue.wbt_lat_usec": 75000,
    }


def test_a_later_setting_clears_the_other_of_a_pair():
    assert in_force({"vm.dirty_background_ratio": 1, "vm.dirty_background_bytes": 5}) == {
        "vm.dirty_background_bytes": 5
    }
    assert in_force({"vm.dirty_bytes": "1MiB", "vm.dirty_ratio": 40}) == {"vm.dirty_ratio": 40}


def test_zero_bytes_are_refused():
    assert in_force({"vm.dirty_ratio": 40, "vm.dirty_bytes": 0}) == {"vm.dirty_ratio": 40}


def test_a_value_without_a_size_is_tried_once():
    assert scalings(Value(name="it", mount=("commit=30",))) == ("as it is",)
    assert scalings(Value(name="it", bdi={"max_ratio": 1})) == ("as it is",)
    assert scalings(Value(name="it", bdi={"max_bytes": "8MiB"})) == ("by seconds", "by memory")
    assert scalings(Value(name="it", sysctl={"vm.dirty_ratio": 40})) == ("by seconds", "by memory")


def test_a_guest_s_background_threshold_is_computed():
    assert background_bytes(SPEC) == 10 * MIB
    assert background_bytes(replace(SPEC, sysctl={"vm.dirty_background_bytes": MIB})) == MIB
