"""Recommendations as data: the lab's own are complete, and errors in files are named."""

from dataclasses import replace

import pytest

from wblab.claims.trial.plan import background_bytes, guest_of, in_force, read_answer, scalings, settings
from wblab.claims.trial.recommendations import AssumedMachine, Value, read_wisdom
from wblab.core.errors import InputError
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec


def test_all_recommendations_have_sources():
    wisdom = read_wisdom()
    numbers = [entry.number for entry in wisdom.recommendation]
    assert numbers == [*range(1, 25), 25, 26]  # the last two are the kernel's own
    for entry in wisdom.recommendation:
        assert all(
            (
                entry.who,
                entry.source,
                entry.says,
                entry.value,
                entry.expectation,
            )
        ), entry.number


def test_recommended_values_agree_with_their_sources():
    values = {key: value for key, (_, value) in read_wisdom().values().items()}
    assert values["1"].sysctl == {"vm.dirty_bytes": 629145600, "vm.dirty_background_bytes": 314572800}
    assert values["4"].sysctl["vm.dirty_ratio"] == 40
    assert values["8"].sysctl == {"vm.dirty_background_bytes": 4194304, "vm.dirty_bytes": 4194304}
    assert list(values["17"].sysctl.values()) == [1, 5, 25]
    assert values["18"].sysctl["vm.dirty_bytes"] == 0
    assert values["19"].sysctl == {"vm.dirty_background_ratio": 10, "vm.dirty_ratio": 5}
    assert values["21d"].bdi == {"strict_limit": 1, "max_ratio": 1}
    assert values["22b"].mount == ("commit=600",)
    assert values["23"].queue == {"wbt_lat_usec": 75000}


def test_every_value_is_tried_on_a_scenario():
    wisdom = read_wisdom()
    for entry in wisdom.recommendation:
        for value in entry.value:
            scenarios = {name: wisdom.scenario[name].loads for name in wisdom.scenarios_of(entry, value)}
            looked = [
                expectation
                for expectation in entry.expectation
                if (not expectation.of or value.name in expectation.of)
                and any(
                    expectation.role in loads
                    for name, loads in scenarios.items()
                    if not expectation.on or name in expectation.on
                )
            ]
            compared = [expectation for expectation in entry.expectation if expectation.against == value.name]
            assert looked or compared, (entry.number, value.name)


def test_recommendations_can_be_selected(wisdom):
    assert [entry.number for entry in wisdom.only(["2"]).recommendation] == [2]
    assert wisdom.only([]).recommendation == wisdom.recommendation
    assert list(wisdom.values()) == ["1", "2a", "2b"]
    assert list(wisdom.only(["2b"]).values()) == ["2b"]
    assert list(wisdom.only(["2"]).values()) == ["2a", "2b"]
    with pytest.raises(InputError, match="no recommendation 3: wblab study folk-wisdom --list has 1 to 2"):
        wisdom.only(["3"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("number = 2", "number = 1", "recommendation 1 follows 1: give recommendations ascending numbers"),
        ("contradicts = [2]", "contradicts = [7]", "recommendation 1: contradicts 7, which does not exist"),
        ("vm.dirty_ratio", "vm.dirty_ration", "unknown key 'vm.dirty_ration'"),
        ('"300MiB"', '"300 apples"', "300 apples"),
        ('metric = "longest_pause_s"\npercent', 'metric = "longest"\npercent', "'longest' is not one of"),
        ("percent = 90", 'percent = 90\nat_most = "1s"', "give one of percent, at_most and law"),
        ('of = ["more"]', 'of = ["most"]', "no value 'most': more, WBT"),
        ('at_most = "1s"', 'at_most = "1s"\non = ["large"]', "no scenario 'large'"),
        ('offender = ["l1"]', "offender = []", "scenario.small.loads: name the loads"),
        ('"1s"', '"1s"\non = ["small"]\nof = ["less"]', "no value 'less'"),
        ('role = "offender"', 'role = "reader"\non = ["small"]', "the scenario small has no reader"),
        ('write_bps = "100MB/s"', 'write_bps = "0"', "machine: give its memory and write_bps"),
    ],
)  # fmt: skip
def test_invalid_recommendations_are_refused_with_the_reason(write_wisdom, old, new, message):
    with pytest.raises(InputError, match=r"wisdom\.toml: ") as error:
        read_wisdom(write_wisdom(old, new))
    assert message in str(error.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read the recommendations"):
        read_wisdom(tmp_path / "none.toml")


VALUE = Value(name="it", sysctl={"vm.dirty_background_ratio": 1, "vm.dirty_background_bytes": 5, "vm.dirty_bytes": 0})
LOG = """refused vm.dirty_bytes
now vm.dirty_background_ratio 0
now vm.dirty_background_bytes 5
now vm.dirty_bytes 0
now nr_dirty_threshold 100
now nr_dirty_background_threshold 1
"""


def test_rejected_and_cleared_settings_are_reported(tmp_path):
    (tmp_path / "agent.setter.log").write_text(LOG)
    answer = read_answer(tmp_path)
    assert (answer.limit_bytes, answer.background_bytes) == (409600, 4096)
    assert answer.words(VALUE) == (
        "vm.dirty_bytes = 0 is rejected; vm.dirty_background_ratio = 1 is cleared by a later setting, and reads 0"
    )


@pytest.mark.parametrize("log", ["", "now\n", "refused\n", "now vm.dirty_bytes many\n", LOG.replace("nr_dirty_t", "t")])
def test_an_incomplete_log_is_refused(tmp_path, log):
    (tmp_path / "agent.setter.log").write_text(log)
    with pytest.raises(InputError, match="has no answer of the kernel"):
        read_answer(tmp_path)


MIB = 1 << 20
MACHINE = AssumedMachine(memory=16 << 30, write_bps=100 * MIB)
SCENARIO = read_wisdom().scenario["device"]
SPEC = read_spec(SPECS.find("base-device"))  # 100 MiB, 1 MiB/s


def scaled(way, **value):
    return settings(Value(name="it", **value), MACHINE, SPEC, SCENARIO, way)


def test_bytes_are_scaled_by_seconds_and_by_memory():
    sizes = {"vm.dirty_bytes": 600 * MIB, "vm.dirty_background_bytes": "300MiB"}
    assert guest_of(SPEC, SCENARIO) == AssumedMachine(memory=100 * MIB, write_bps=MIB)
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
