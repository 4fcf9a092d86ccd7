"""Differences as those of two builds of one kernel."""

import pandas as pd
import pytest

from wblab.analysis.runs.comparison import compare
from wblab.analysis.runs.digest import is_of_build
from wblab.analysis.runs.observations import observations


def difference(before_s, after_s, metric="longest_pause_s"):
    rows = [
        {"kernel": kernel, "seed": seed, "run": f"{kernel}-{seed}", "load": "w1", "kind": "write", "metric": metric}
        | {"value": value}
        for kernel, values in (("7.2", before_s), ("7.3", after_s))
        for seed, value in enumerate(values)
    ]
    (found,) = compare(observations(pd.DataFrame(rows))).of("group")
    return found


@pytest.mark.parametrize(
    ("before_s", "after_s", "is_as_builds"),
    [
        ([4.0, 4.1, 4.2], [4.1, 4.2, 4.3], True),  # 2.4 %
        ([4.0, 4.1, 4.2], [4.4, 4.5, 4.6], False),
        ([0.0, 0.0, 0.0], [15.4, 15.5, 15.6], False),
        ([0.141, 0.141, 0.141], [0.131, 0.131, 0.131], True),  # one tick, with all seeds
        ([0.141, 0.142, 0.141], [0.128, 0.131, 0.129], False),
        ([0.161, 0.161, 0.161], [0.131, 0.131, 0.131], False),
    ],
)
def test_a_twentieth_or_a_tick_is_as_two_builds(before_s, after_s, is_as_builds):
    assert is_of_build(difference(before_s, after_s)) == is_as_builds


def test_a_tick_is_one_of_times_only():
    assert not is_of_build(difference([0.141] * 3, [0.131] * 3, metric="paused_fraction"))


def test_when_a_disk_could_be_unplugged_is_known_to_a_tick():
    assert is_of_build(difference([0.1, 0.1, 0.11], [0.09, 0.1, 0.09], metric="unplug_s"))
    assert not is_of_build(difference([0.1, 0.1, 0.11], [0.08, 0.07, 0.08], metric="unplug_s"))
