"""Recommendations as data: the lab's own are complete, and errors in files are named."""

import pytest

from wblab.core.errors import InputError
from wblab.study.designs.trial.recommendations import read_wisdom


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
