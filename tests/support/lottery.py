"""Of many tests that are alike, some a day: the others are left to `make soak`, so that both together are all.

The date in UTC draws them, or that of $WBLAB_TESTS_DAY, such as 2026-01-31: another day's tests are repeated so.
"""

import os
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import pytest

# Processes of xdist inherit it: also at midnight, all draw the same.
DAY = date.fromisoformat(os.environ.setdefault("WBLAB_TESTS_DAY", datetime.now(UTC).date().isoformat()))
# The sets of figures that the lab keeps, each of which a test repeats to the bit.
KEPT = ("expected", "figures", "findings")


def pytest_report_header() -> str:
    return f"tests drawn by the date: WBLAB_TESTS_DAY={DAY}"


def draw(names: Sequence[str], count: int) -> list[str]:
    """Return this day's names, in their order."""
    drawn = random.Random(f"{DAY} {' '.join(names)}").sample(range(len(names)), min(count, len(names)))
    return [names[number] for number in sorted(drawn)]


def on_its_day(name: str, names: Sequence[str], count: int = 1) -> pytest.MarkDecorator:
    """Return the mark of a test that is one of several with these names: soak, unless it is drawn today."""
    assert name in names
    return pytest.mark.drawn if name in draw(names, count) else pytest.mark.soak


def some(names: Iterable[str], count: int, marks: Iterable[pytest.MarkDecorator] = ()) -> list[Any]:
    """Return names as parameters of a test, all but some with the mark soak."""
    known = list(names)
    return [pytest.param(name, id=name, marks=[*marks, on_its_day(name, known, count)]) for name in known]
