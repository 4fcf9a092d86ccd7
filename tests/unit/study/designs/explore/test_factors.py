"""Values of ranges and levels for a number between 0 and 1."""

import numpy as np
import pytest

from wblab.core.errors import InputError
from wblab.study.designs.explore.factors import FactorRange, Level, Levels, evaluate, names, parse_number, shown

U = np.random.default_rng(3).random(2000).tolist()
NEAR_ONE = float(np.nextafter(1.0, 0.0))


def test_whole_numbers_of_a_linear_range_are_equally_likely():
    factor = FactorRange(name="n", key="memory", low=10, high=14, step=1)
    numbers = [factor.number(u) for u in U]
    assert set(numbers) == {10, 11, 12, 13, 14}
    assert all(type(number) is int for number in numbers)
    assert min(numbers.count(number) for number in set(numbers)) > 330
    assert factor.labels == ("10", "11", "12", "13", "14")


def test_a_logarithmic_range_is_symmetric_about_its_geometric_mean():
    factor = FactorRange(name="limit", key="k", low=1 << 20, high=1 << 26, scale="log", unit="bytes", step=4096)
    numbers = [factor.number(u) for u in U]
    assert sum(number < 1 << 23 for number in numbers) == sum(u < 0.5 for u in U)
    assert all(number % 4096 == 0 for number in numbers)
    assert (factor.number(0.0), factor.number(NEAR_ONE)) == (1 << 20, 1 << 26)
    assert factor.labels[0] == "1 MiB – 1.68 MiB"
    assert factor.labels[-1] == "38.1 MiB – 64 MiB"


def test_a_range_of_fractions_needs_no_step():
    factor = FactorRange(name="share", key="", low=0.1, high=0.9)
    assert factor.level(0.5) == Level(0.5, {}, 0.5)
    assert len(factor.labels) == 8


def test_a_time_is_set_with_its_unit():
    factor = FactorRange(name="latency", key="disk.latency", low=1000, high=9000, unit="ns", step=1000)
    assert factor.level(0.0) == Level(1000, {"disk.latency": "1000ns"}, 1000)
    assert factor.labels[0] == "1 µs"


def test_each_level_has_an_equal_part_of_the_sample():
    levels = tuple(Level(label, {"memory": label}) for label in ("a", "b", "c"))
    factor = Levels(name="m", levels=levels)
    assert [factor.level(u).label for u in (0.0, 0.34, NEAR_ONE)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("given", "found"),
    [(5, (5, "")), (0.5, (0.5, "")), ("4KiB", (4096, "bytes")), ("1M/s", (1 << 20, "bytes/s")), ("5us", (5000, "ns"))],
)
def test_a_number_may_have_a_unit(given, found):
    assert parse_number(given, "x") == found


@pytest.mark.parametrize("given", [True, None, "many", float("nan"), float("inf"), "4 parsecs"])
def test_an_invalid_number_is_refused(given):
    with pytest.raises(InputError, match=r"x: .* is not a number, size, rate or time"):
        parse_number(given, "x")


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (1_500_000, "ns", "1.50 ms"),
        (1 << 20, "bytes", "1 MiB"),
        (1234, "", "1234"),
        (0.2, "", "0.20"),
        (0, "ns", "0 s"),
    ],
)
def test_numbers_are_shown_with_three_digits(number, unit, text):
    assert shown(number, unit) == text


VALUES = {"limit": 1000, "share": 0.25}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("limit * share", 250),
        ("max(4 * KiB, limit)", 4096),
        ("limit - 1.5 * s / ms", -500),
        ("-limit // 3 % 7", -334 % 7),
        ("floor(limit / 3)", 333),
        ("ceil(limit / 3)", 334),
        ("limit / 3 * 2", 666),
        ("min(limit, 3, share * limit)", 3),
    ],
)
def test_expressions_are_computed_and_rounded_down(expression, value):
    assert evaluate(expression, VALUES) == value


def test_names_in_expressions_are_factors():
    assert names("max(4 * KiB, limit * share)") == {"limit", "share"}


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("limit *", "is not arithmetic: write for example"),
        ("limit.real", "is not arithmetic"),
        ("__import__('os')", "is not arithmetic"),
        ("open(limit)", "is not arithmetic"),
        ("'a' * limit", "is not arithmetic"),
        ("limit ** limit", "is not arithmetic"),
        ("limit if share else 3", "is not arithmetic"),
        ("[limit][0]", "is not arithmetic"),
        ("True + limit", "is not arithmetic"),
        ("max(*limit)", "is not arithmetic"),
        ("limt", "no numeric factor 'limt'"),
        ("limit / 0", "cannot be computed"),
        ("limit * 1e308 * 1e308", "cannot be computed"),
        ("min(limit)", "cannot be computed"),
        ("+" * 300 + "1", "is too long"),
        ("(" * 90 + ")" * 90, "is not arithmetic"),
    ],
)
def test_other_expressions_are_refused(expression, said):
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        evaluate(expression, VALUES)
