"""The paused time of loads by cause."""

from collections import Counter
from collections.abc import Iterable

from wblab.why.explain import Explanation


def by_load(found: Iterable[Explanation]) -> dict[str, dict[str, int]]:
    """Return for each load, in ns, how much of its pauses was what: it adds up to them; the most first."""
    sums: dict[str, Counter[str]] = {}
    for item in found:
        sums.setdefault(item.load, Counter()).update(item.parts)
    return {load: dict(parts.most_common()) for load, parts in sums.items()}


def of_all(found: Iterable[Explanation]) -> dict[str, int]:
    """Return the same of all loads together."""
    total: Counter[str] = Counter()
    for parts in by_load(found).values():
        total.update(parts)
    return dict(total.most_common())
