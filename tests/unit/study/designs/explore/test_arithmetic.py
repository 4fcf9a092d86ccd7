"""Arithmetic in a design's file: its values, and what it refuses."""

import pytest

from wblab.core.errors import InputError
from wblab.study.designs.explore.factors import evaluate, names

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
