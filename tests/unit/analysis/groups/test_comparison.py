"""Comparisons of synthetic runs with known effects."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from wblab.analysis.groups.comparison import compare, short_names
from wblab.analysis.groups.observations import observations
from wblab.analysis.runs.metrics import METRICS
from wblab.analysis.statistics.contrasts import contrast, sides
from wblab.analysis.statistics.intervals import Resampling


def rows(value, seeds=range(1, 11), metric="longest_pause_s", load="mw1", kind="multiwrite", **levels):
    return [
        {**levels, "seed": s, "run": f"{levels}-{s}", "load": load, "kind": kind, "metric": metric, "value": value(s)}
        for s in seeds
    ]


def factorial(effect, spread=0.2, seeds=range(1, 11), skip=(), chance=5):
    """Return a table of scheduler x idle x memcg, with values effect(scheduler, idle, memcg) + noise."""
    random = np.random.default_rng(chance)
    table = []
    for scheduler in ("none", "bfq"):
        for idle in ("no", "yes"):
            for memcg in ("no", "yes"):
                if (scheduler, idle, memcg) not in skip:
                    mean = effect(scheduler == "bfq", idle == "yes", memcg == "yes")
                    levels = {"disk.scheduler": scheduler, "load.l1.ioclass": idle, "memcg": memcg}
                    table += rows(lambda seed, mean=mean: mean + random.normal(0, spread), seeds, **levels)
    return pd.DataFrame(table)


def found(comparison, sort, name):
    (item,) = [item for item in comparison.of(sort) if item.name == name]
    return item


def test_two_groups_that_differ():
    noise = np.random.default_rng(1).normal(0, 0.1, 20)
    table = pd.DataFrame(
        rows(lambda s: 2 + noise[s - 1], scheduler="none") + rows(lambda s: 1 + noise[s + 9], scheduler="bfq")
    )
    result = compare(observations(table))
    (item,) = result.differences
    assert result.groups == ("none", "bfq")
    assert item.interval.estimate == pytest.approx(-1, abs=0.15)
    assert (item.claim, item.gain, item.found.delta) == (-1, 1, -1)
    assert item.relative == pytest.approx(-0.5, abs=0.1)
    assert result.tests == 2
    assert [len(of.values) for of in result.distributions] == [10, 10]


@pytest.mark.parametrize("shift", [0, 100], ids=["the same seeds", "other seeds"])
def test_the_interval_of_a_ratio_has_its_nominal_coverage(shift):
    random = np.random.default_rng(11)
    hits, count = 0, 200
    for _ in range(count):
        first = {s: [value] for s, value in enumerate(random.lognormal(0, 0.3, 6))}
        second = {s + shift: [3 * value] for s, value in enumerate(random.lognormal(0, 0.3, 6))}
        ratio = contrast({("a",): first, ("b",): second}, sides((0, "b", "a"))).ratio
        assert 0 < ratio.low <= ratio.estimate <= ratio.high
        hits += ratio.low <= 3 <= ratio.high
    assert 0.89 <= hits / count <= 0.99


def test_there_is_no_ratio_to_zero_or_for_an_interaction():
    nothing, one = {s: [0.0] for s in range(5)}, {s: [1.0] for s in range(5)}
    assert contrast({("a",): nothing, ("b",): one}, sides((0, "b", "a"))).ratio is None
    cells = {(first, second): one for first in "ab" for second in "xy"}
    assert contrast(cells, sides((0, "b", "a"), (1, "y", "x"))).ratio is None
    same = contrast({("a",): one, ("b",): one}, sides((0, "b", "a"))).ratio
    assert (same.low, same.estimate, same.high) == (1, 1, 1)


def test_more_throughput_is_better():
    of = {"metric": "throughput_bps", "load": "l1", "kind": "load"}
    table = pd.DataFrame(rows(lambda s: 100 + s, group="a", **of) + rows(lambda s: 200 + s, group="b", **of))
    (item,) = compare(observations(table)).differences
    assert (item.interval.claim, item.gain) == (1, 1)


def test_equal_groups_give_no_claim():
    table = pd.DataFrame(rows(lambda s: s % 3, group="a") + rows(lambda s: s % 3, group="b"))
    (item,) = compare(observations(table)).differences
    assert (item.interval.estimate, item.interval.claim, item.gain, item.found.delta) == (0, 0, 0, 0)


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_runs_are_reported_and_claim_nothing(count):
    seeds = range(1, count + 1)
    table = pd.DataFrame(rows(lambda s: s, seeds, group="a") + rows(lambda s: 100 + s, seeds, group="b"))
    result = compare(observations(table))
    assert result.tests == 0
    assert result.differences[0].gain == 0
    assert any("differences without an interval, because there are too few runs: b" in note for note in result.notes)


def test_pairing_by_seed_reveals_a_difference_that_seeds_hide():
    random = np.random.default_rng(2)
    of_seed = random.normal(0, 5, 10)
    first = {s: [10 + of_seed[s] + random.normal(0, 0.1)] for s in range(10)}
    second = {s: [10.5 + of_seed[s] + random.normal(0, 0.1)] for s in range(10)}
    other_seeds = {s + 100: values for s, values in second.items()}
    parts = sides((0, "b", "a"))
    paired = contrast({("a",): first, ("b",): second}, parts)
    unpaired = contrast({("a",): first, ("b",): other_seeds}, parts)
    assert paired.by_seed
    assert not unpaired.by_seed
    assert paired.interval.claim == 1
    assert unpaired.interval.claim == 0
    assert unpaired.interval.estimate == pytest.approx(paired.interval.estimate)


def test_effects_of_a_factorial_experiment_are_separated():
    table = factorial(lambda bfq, idle, memcg: 10 - 1.0 * bfq - 2.0 * idle)
    result = compare(observations(table))
    effects = {item.name: item for item in result.of("effect")}
    assert list(effects) == ["scheduler = bfq", "ioclass = yes", "memcg = yes"]
    truth = {"scheduler = bfq": -1.0, "ioclass = yes": -2.0, "memcg = yes": 0.0}
    for name, value in truth.items():
        inside = effects[name].interval
        assert inside.low <= value <= inside.high
        assert inside.claim == np.sign(value)
        assert effects[name].found.strata == 4
        assert effects[name].found.by_seed
    assert len(result.groups) == 8
    assert result.groups[0] == "scheduler none, ioclass no, memcg no"


def test_absent_effects_are_claimed_at_the_nominal_rate():
    claims = []
    for chance in range(20):
        result = compare(observations(factorial(lambda bfq, idle, memcg: 10 - 1.0 * bfq - 2.0 * idle, chance=chance)))
        nothing = [*result.of("interaction"), found(result, "effect", "memcg = yes")]
        claims += [item.interval.claim != 0 for item in nothing]
    assert 0 < np.mean(claims) < 0.1


def test_an_interaction_is_found():
    table = factorial(lambda bfq, idle, memcg: 10 - 3.0 * (bfq and idle))
    result = compare(observations(table))
    item = found(result, "interaction", "scheduler = bfq × ioclass = yes")
    assert item.interval.low <= -3 <= item.interval.high
    assert (item.interval.claim, item.gain, item.found.delta) == (-1, 0, None)
    assert found(result, "interaction", "scheduler = bfq × memcg = yes").interval.claim == 0


def test_a_missing_cell_does_not_mix_the_axes():
    table = factorial(lambda bfq, idle, memcg: 10 - 5.0 * idle, skip=[("bfq", "no", "no")])
    item = found(compare(observations(table)), "effect", "scheduler = bfq")
    assert item.found.strata == 3
    assert item.interval.estimate == pytest.approx(0, abs=0.3)
    naive = table.groupby("disk.scheduler")["value"].mean()
    assert naive["bfq"] - naive["none"] < -0.7


def test_runs_of_a_seed_that_an_axis_does_not_change_count_once():
    values = np.random.default_rng(4).normal(0, 1, (2, 6))
    once = {(level, "x"): {s: [values[i][s]] for s in range(6)} for i, level in enumerate("ab")}
    cells = once | {(level, "y"): runs for (level, _), runs in once.items()}
    parts = sides((0, "b", "a"))
    twice, single = contrast(cells, parts).interval, contrast(once, parts).interval
    assert (twice.low, twice.high) == pytest.approx((single.low, single.high))


def test_groups_that_differ_in_other_axes_too_get_a_note():
    table = pd.DataFrame(
        rows(lambda s: s, group="a", other="x")
        + rows(lambda s: s + 1, group="a", other="y")
        + rows(lambda s: s, group="b", other="z")
    )
    result = compare(observations(table, by=["group"]))
    assert result.groups == ("a", "b")
    assert result.differences[0].found.strata == 0
    assert any(re.fullmatch("differences that may be due to other axes, .*: b", note) for note in result.notes)


def test_a_note_names_some_of_many_groups():
    table = pd.DataFrame([row for level in range(12) for row in rows(lambda s: s, group=f"g{level}")[:1]])
    notes = compare(observations(table, by=["group"])).notes
    (few,) = [note for note in notes if note.startswith("groups without an interval")]
    assert few.endswith(": g0; g1; g2; g3; g4; g5; g6; g7; and 4 more")


def test_other_axes_are_averaged_over():
    table = factorial(lambda bfq, idle, memcg: 10 - 1.0 * bfq - 5.0 * idle, spread=0.1)
    result = compare(observations(table, by=["disk.scheduler"]))
    (item,) = result.differences
    assert result.groups == ("none", "bfq")
    assert item.found.strata == 4
    assert item.interval.low <= -1 <= item.interval.high
    assert item.interval.high - item.interval.low < 0.5


def test_tails_come_first_and_control_loads_last():
    table = pd.DataFrame(
        [
            row
            for group in "ab"
            for load, kind in (("c1", "control"), ("l1", "load"), ("w1", "write"))
            for metric in ("mean_cycle_s", "wait_time_s", "longest_pause_s")
            for row in rows(lambda s: s, load=load, kind=kind, metric=metric, group=group)
        ]
    )
    about = [item.about for item in compare(observations(table)).differences]
    assert [item.load for item in about] == ["w1"] * 3 + ["l1"] * 3 + ["c1"] * 3
    assert [item.metric for item in about[:3]] == ["longest_pause_s", "wait_time_s", "mean_cycle_s"]


def test_as_json():
    table = factorial(lambda bfq, idle, memcg: 10.0, seeds=range(2))
    content = json.loads(json.dumps(compare(observations(table)).to_json(), allow_nan=False))
    assert content["format"] == 2
    assert content["groups"][0].startswith("scheduler none")
    assert content["differences"][0]["interval"]["low"] is None
    assert content["distributions"][0]["median"] > 0


def test_only_some_loads():
    table = pd.DataFrame(rows(lambda s: s, group="a") + rows(lambda s: s + 1, group="b"))
    result = compare(observations(table))
    assert result.only(lambda about: about.load == "w1").differences == ()
    assert result.only(lambda about: about.load == "mw1") == result


def many(groups, differs, chance, seeds=range(1, 11)):
    """Return a table with a baseline and so many groups, the first `differs` of which are 3 standard errors away."""
    random = np.random.default_rng(chance)
    table = rows(lambda s: random.normal(10, 0.01), seeds, group="none")
    for group in range(groups):
        mean = 10 + 1.5 * (group < differs)
        table += rows(lambda s, mean=mean: mean + random.normal(0, 1), seeds, group=f"g{group:02}")
    return pd.DataFrame(table)


def test_many_differences_have_the_false_discovery_rate_of_one():
    false, found, alone = [], [], []
    for chance in range(20):
        result = compare(observations(many(30, 5, chance)), Resampling(seed=chance, count=1000))
        claims = [item.claim != 0 for item in result.differences]
        alone.append(sum(item.interval.claim != 0 for item in result.alone[5:]) / 25)
        false.append(sum(claims[5:]) / max(1, sum(claims)))
        found.append(sum(claims[:5]) / 5)
    assert np.mean(alone) >= 0.03  # without correction: one of twenty or thirty
    assert np.mean(false) <= 0.05
    assert np.mean(found) >= 0.6


def test_intervals_widen_with_their_number():
    result = compare(observations(many(30, 5, 1)))
    assert result.confidence > 0.95
    for wide, narrow in zip(result.differences, result.alone, strict=True):
        assert wide.interval.low < narrow.interval.low < narrow.interval.high < wide.interval.high
        assert wide.found.ratio.low < narrow.found.ratio.low < wide.found.ratio.estimate
        assert wide.interval.estimate == narrow.interval.estimate


def test_a_single_comparison_is_not_corrected():
    table = many(1, 1, 1)
    result = compare(observations(table))
    assert (result.confidence, result.differences) == (0.95, result.alone)


def test_a_part_of_a_comparison_claims_what_the_whole_claims():
    table = many(1, 1, 1)
    second = table.assign(metric="wait_time_s", value=table["value"].sample(frac=1, random_state=1).to_numpy())
    both = compare(observations(pd.concat([table, second], ignore_index=True)))
    part = both.only(lambda about: about.metric == "longest_pause_s")
    assert part.confidence == both.confidence > 0.95
    assert part.differences == both.differences[:1]


def elephant(runs):
    """Return a comparison: a pause of about 0.01 s with one kernel, of 19 to 27 s with another."""
    random, seeds = np.random.default_rng(4), range(1, runs + 1)
    short, long = 0.01 + random.uniform(0, 1e-4, runs), np.resize([27, 19, 20], runs)
    table = pd.DataFrame(
        rows(lambda s: short[s - 1], seeds, kernel="7.2") + rows(lambda s: long[s - 1], seeds, kernel="6.1")
    )
    further = [table.assign(metric=name, value=random.normal(1, 0.1, len(table))) for name in METRICS[1:7]]
    return compare(observations(pd.concat([table, *further], ignore_index=True)))


def test_a_thousandfold_difference_is_claimed_as_soon_as_the_runs_suffice():
    few, enough = (elephant(runs).differences[0] for runs in (3, 10))
    assert (few.found.delta, few.claim) == (1, 0)
    assert (enough.found.delta, enough.claim) == (1, 1)
    assert enough.found.delta_interval(0.95)[0] > 0.5


def test_ranks_alone_may_claim_a_difference():
    seeds = range(1, 13)
    table = pd.DataFrame(
        rows(lambda s: 300 if s == 5 else 1 + s / 100, seeds, group="a") + rows(lambda s: 2 + s / 50, seeds, group="b")
    )
    (item,) = compare(observations(table)).differences
    assert item.interval.claim == 0
    assert (item.claim, item.is_by_ranks) == (1, True)


def test_times_below_the_resolution_of_the_clock_do_not_differ():
    table = pd.DataFrame(rows(lambda s: 1 + 1e-9 * s, group="a") + rows(lambda s: 1 + 5e-7 + 1e-9 * s, group="b"))
    (item,) = compare(observations(table)).differences
    assert item.is_below_resolution
    assert (item.claim, item.gain) == (0, 0)


def test_differences_without_spread_do_not_count_as_comparisons():
    table = pd.DataFrame(rows(lambda s: 1.0, group="a") + rows(lambda s: 2.0, group="b") + rows(lambda s: s, group="c"))
    result = compare(observations(table))
    assert result.confidence == 0.95
    content = result.to_json()
    assert [item["p"] is None for item in content["differences"]] == [True, False]
    assert content["differences"][1]["alone"] == content["differences"][1]["interval"]


def test_short_names():
    assert short_names(["disk.scheduler", "load.l1.ioclass"]) == ["scheduler", "ioclass"]
    assert short_names(["load.l1.ioclass", "load.l2.ioclass"]) == ["l1.ioclass", "l2.ioclass"]
    assert short_names(["sysctl.vm.dirty_bytes"]) == ["dirty_bytes"]


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
    assert difference(before_s, after_s).is_of_builds == is_as_builds


def test_a_tick_is_one_of_times_only():
    assert not difference([0.141] * 3, [0.131] * 3, metric="paused_fraction").is_of_builds


def test_when_a_disk_could_be_unplugged_is_known_to_a_tick():
    assert difference([0.1, 0.1, 0.11], [0.09, 0.1, 0.09], metric="unplug_s").is_of_builds
    assert not difference([0.1, 0.1, 0.11], [0.08, 0.07, 0.08], metric="unplug_s").is_of_builds
