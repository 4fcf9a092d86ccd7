"""The paused time of loads by cause."""

from collections import Counter
from collections.abc import Iterable

from wblab.analysis.why.explain import Explanation


def by_load(found: Iterable[Explanation]) -> dict[str, dict[str, int]]:
    """Return the paused time of each load by cause, in ns; the most first. It adds up to the load's pauses."""
    sums: dict[str, Counter[str]] = {}
    for item in found:
        sums.setdefault(item.load, Counter()).update(item.parts)
    return {load: dict(parts.most_common()) for load, parts in sums.items()}


def of_all(found: Iterable[Explanation]) -> dict[str, int]:
    """Return the paused time of all loads together by cause, in ns; the most first."""
    total: Counter[str] = Counter()
    for parts in by_load(found).values():
        total.update(parts)
    return dict(total.most_common())
