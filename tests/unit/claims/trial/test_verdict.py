"""Verdicts on figures with known truth."""

import numpy as np
import pytest

from wblab.claims.trial.report import figure_text, threshold_text
from wblab.claims.trial.verdict import JudgedFigure, bound_figure, corrected, judge, overall, ratio_figure


def seeds(values) -> dict[int, float]:
    return dict(enumerate(values, start=1))


def noisy(mean: float, count: int = 10, spread: float = 0.05, seed: int = 0) -> dict[int, float]:
    return seeds((mean * np.exp(np.random.default_rng(seed).normal(0, spread, count))).tolist())


def ratio(changed, before, percent=90.0, *, rising=False) -> JudgedFigure:
    figure = ratio_figure(changed, before, percent, rising=rising, floor=0.1)
    return corrected([figure])[0]


BEFORE = noisy(10.0, seed=1)


@pytest.mark.parametrize(
    ("mean", "rising", "outcome"),
    [
        (5.0, False, "reproduced"),
        (9.8, False, "not reproduced"),
        (15.0, True, "reproduced"),
        (10.0, True, "not reproduced"),
    ],
)
def test_a_known_ratio_is_recovered(mean, rising, outcome):
    figure = ratio(noisy(mean), BEFORE, 133.0 if rising else 90.0, rising=rising)
    assert judge(figure) == outcome
    assert figure.interval.low < mean / 10 < figure.interval.high


def test_an_effect_hidden_by_noise_is_not_decided():
    figure = ratio(noisy(9.0, 5, 0.3), noisy(10.0, 5, 0.3, seed=1))
    assert judge(figure) == "not decided"
    assert figure.is_open


def test_a_worse_pause_is_harm_in_any_case():
    worse = ratio(noisy(20.0), BEFORE, 110.0)
    kept = ratio(noisy(5.0), BEFORE)
    assert judge(kept, worse) == "harms"
    assert judge(kept, None, ratio(noisy(10.2), BEFORE, 110.0)) == "reproduced"
    assert judge(None, worse) == "harms"
    assert judge(None, kept) == "not decided"


def test_an_unnoticeable_change_is_no_harm():
    assert ratio(seeds([0.09] * 5), seeds([0.001] * 5), 110.0).interval.estimate == 1.0


def test_one_run_refutes_a_limit():
    figure = bound_figure(seeds([0.5] * 9 + [1.2]), 1.0)
    assert figure.broken == 1
    assert judge(*corrected([figure])) == "not reproduced"
    assert not figure.is_open


def test_a_limit_kept_by_all_runs_is_reproduced():
    assert judge(*corrected([bound_figure(noisy(0.5), 1.0)])) == "reproduced"
    assert judge(*corrected([bound_figure(seeds([0.5]), 1.0)])) == "not decided"  # one run
    close = bound_figure(seeds([0.2, 0.99, 0.5]), 1.0)
    assert judge(*corrected([close])) == "not decided"
    assert close.is_open


def test_a_time_is_never_shown_below_zero():
    values = seeds([0.001, 0.002, 60.0])
    assert bound_figure(values, 1.0).interval.low < 0
    figure = bound_figure(values, 1.0, is_log=True)
    assert 0 < figure.interval.low < figure.interval.estimate < 1
    assert judge(*corrected([figure])) == "not reproduced"  # one run refutes it
    kept = bound_figure(seeds([0.02, 0.03, 0.025, 0.0]), 1.0, is_log=True)
    assert judge(*corrected([kept])) == "reproduced"


def test_one_comparison_is_not_corrected_for_three():
    figure = bound_figure(seeds([0.50, 0.52, 0.49]), 0.6)
    once, thrice = corrected([figure], 1)[0], corrected([figure])[0]
    assert once.q == figure.p
    assert thrice.q == pytest.approx(3 * figure.p)


def test_runs_without_spread_decide():
    figure = corrected([bound_figure(seeds([0.0] * 5), 0.0)])[0]
    assert judge(figure) == "reproduced"
    assert not figure.is_open


def test_of_many_ineffective_changes_few_are_claimed():
    generator = np.random.default_rng(7)
    figures = [
        ratio_figure(seeds(np.exp(generator.normal(0, 0.2, 8))), seeds([1.0] * 8), 100.0, rising=False, floor=0.1)
        for _ in range(300)
    ]
    assert sum(figure.p < 0.05 for figure in figures) > 5  # each without correction
    assert {figure.outcome for figure in corrected(figures)} == {"not decided"}


def test_pairs_have_the_same_seed():
    figure = ratio({1: 2.0, 2: 4.0, 3: 6.0, 9: 100.0}, {1: 1.0, 2: 2.0, 3: 3.0, 4: 50.0})
    assert figure.interval.estimate == pytest.approx(2.0)
    assert figure.interval.runs == 3
    assert ratio_figure({1: 1.0}, {2: 1.0}, 90, rising=False, floor=0.1) is None


def test_an_expectation_holds_if_it_holds_in_all_scenarios():
    assert overall(["reproduced", "reproduced"]) == "reproduced"
    assert overall(["reproduced", "not decided"]) == "not decided"
    assert overall(["reproduced", "not decided", "not reproduced"]) == "not reproduced"
    assert overall(["not reproduced", "harms"]) == "harms"
    assert overall([]) == "not decided"


def test_figures_are_described_in_words():
    assert figure_text(bound_figure(seeds([0.21] * 3), 0.2), "longest_sleep_s") == "210 ms"
    assert figure_text(bound_figure(seeds([1.0, 2.0, 3.0]), 4.0), "longest_pause_s") == "2.00 s (-0.48 to 4.48)"
    assert figure_text(bound_figure(seeds([3.0] * 3), 4.0), "periodic_writebacks") == "3"
    assert figure_text(ratio_figure(seeds([1.0] * 3), seeds([2.0] * 3), 90, rising=False, floor=0.1)) == "×0.50"
    assert threshold_text(bound_figure(seeds([0.5]), 0.2), "unplug_s") == "at most 200 ms"
    assert figure_text(None) == "-"
