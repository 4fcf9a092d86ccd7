"""The same twice: how often a difference is claimed where there is none, over all metrics of a comparison together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.nullgroups import FEW, SHAPES, claims, drawn, halves, recorded
from support.reports import cells, tables

from wblab.analysis.statistics.decision import for_looks, looks
from wblab.report.comparisonreport import answer, is_open_answer, report
from wblab.report.comparisontext import line
from wblab.study.undecided import undecided

NOMINAL = 0.05
MOST_RUNS = 20


def rate(draw, repeats, **options):
    """Return the share of comparisons that claim any difference."""
    return sum(claims(halves(draw(np.random.default_rng(seed)), **options)) > 0 for seed in range(repeats)) / repeats


def is_nominal(share, repeats):
    """Whether a share is not above the nominal rate by more than chance, of 1 in 1000, explains."""
    return share <= NOMINAL + 3.1 * (NOMINAL * (1 - NOMINAL) / repeats) ** 0.5


@pytest.mark.parametrize("runs", [3, 4])
@pytest.mark.parametrize("shape", ["short or long", "one of two values", "ties"])
def test_three_or_four_runs_of_either_kind_claim_nothing_by_chance(shape, runs):
    assert rate(lambda random: drawn(random, shape, runs), 20) == 0  # before: 0.18 to 0.60 with 3 runs


def test_runs_without_spread_that_are_equal_are_decided():
    assert claims(halves(drawn(np.random.default_rng(1), "no spread", 3))) == 0


@pytest.mark.parametrize(("runs", "claimed"), [(3, False), (5, True)])
def test_a_thousandfold_without_spread_is_claimed_or_said_to_be_open(runs, claimed):
    found = halves({("w1", "write", "longest_pause_s"): np.full(2 * runs, 0.01)}, change=lambda values: values * 1000)
    assert (claims(found) == 1) == claimed
    assert answer(found).startswith(
        "editor w1's longest pause is 9.99 s more" if claimed else "Seen, but not decided: editor w1's longest"
    )


def test_equal_values_of_few_runs_wait_for_more_seeds_before_they_decide():
    table = pd.DataFrame([
        {"cell": cell, "seed": seed, "run": f"{cell}{seed}", "load": "w1", "kind": "write"}
        | {"metric": "longest_pause_s", "value": value}
        for cell, value in (("a", 1.0), ("b", 2.0), ("same", 1.0))
        for seed in (1, 2, 3)
    ])  # fmt: skip
    assert undecided(table, for_looks(6)) == {"b"}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    runs=st.sampled_from([2, 3, 4, 5, 8]),
    shapes=st.lists(st.sampled_from(list(SHAPES)), min_size=1, max_size=3, unique=True),
    factor=st.sampled_from([1, 1 + 1e-9, 1.02, 2, 1000]),
    seed=st.integers(0, 10**6),
)
def test_the_headline_does_not_contradict_the_rows(runs, shapes, factor, seed):
    random = np.random.default_rng(seed)
    values = {("w1", "write", f"{shape}_s"): SHAPES[shape](random, 2 * runs) for shape in shapes}
    found = halves(values, change=lambda values: values * factor)
    rows, headline = [line(item) for item in found.differences], answer(found)
    told = {row[-2] for table in tables(report(found)) for row in cells(table)}
    assert {row.verdict for row in rows} - {"too few runs"} <= told
    verdicts = {row.verdict for row in rows}
    assert is_open_answer(found) == headline.startswith("Seen") or "Too few runs" in headline
    if "Too few runs" in headline:
        assert verdicts == {"too few runs"}
    elif headline.startswith("No difference is shown"):
        assert verdicts <= {"no difference shown", "below resolution"}
        assert all(item.interval.claim == 0 or item.is_below_resolution for item in found.differences)
    elif headline.startswith("Seen, but not decided"):
        assert "not decided" in verdicts
        assert not any(row.claimed for row in rows)
    else:
        named = [row for row in rows if headline.startswith(f"editor {row.load}'s {row.metric} is ")]
        assert [row.claimed for row in named] == [True]
        assert ("which is worse" in headline, "which is better" in headline) == (named[0].gain < 0, named[0].gain > 0)


@pytest.mark.soak
@pytest.mark.parametrize("paired", [True, False], ids=["the same seeds", "other seeds"])
@pytest.mark.parametrize("runs", [3, 5, 8, MOST_RUNS])
@pytest.mark.parametrize("preset", ["base", "base-device"])
def test_the_same_kernel_twice_claims_nothing_over_the_nominal_rate(preset, runs, paired):
    share = rate(lambda random: recorded(random, preset, runs), 200, paired=paired)
    print(f"{preset}, {runs} runs: {share:.3f}")
    assert is_nominal(share, 200)


@pytest.mark.soak
@pytest.mark.parametrize("runs", [3, 5, 8, MOST_RUNS])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_no_shape_of_figures_gives_claims_over_the_nominal_rate(shape, runs):
    share = rate(lambda random: drawn(random, shape, runs), 200)
    print(f"{shape}, {runs} runs: {share:.3f}")
    assert is_nominal(share, 200)


@pytest.mark.soak
@pytest.mark.parametrize("preset", ["base", "base-device"])
def test_looks_until_decided_claim_nothing_over_the_nominal_rate(preset):
    plan, repeats, false = looks(MOST_RUNS), 100, 0
    for seed in range(repeats):
        values = recorded(np.random.default_rng(seed), preset, MOST_RUNS)
        for runs in plan:
            part = {key: np.concatenate([v[:runs], v[MOST_RUNS : MOST_RUNS + runs]]) for key, v in values.items()}
            found = halves(part, resampling=for_looks(len(plan), FEW))
            if claims(found):
                false += 1
                break
    assert is_nominal(false / repeats, repeats)


@pytest.mark.soak
@pytest.mark.parametrize(("factor", "least"), [(1.01, 0.0), (1.02, 0.0), (1.05, 0.9), (1000, 1.0)])
def test_a_difference_is_found(factor, least):
    share = rate(lambda random: recorded(random, "base-device", MOST_RUNS), 50, change=lambda values: values * factor)
    print(f"×{factor}: {share:.2f} of comparisons of {MOST_RUNS} runs claim it")
    assert share >= least
