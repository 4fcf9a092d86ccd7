"""Looks at values while they are gathered: more seeds only until they decide.

Each look is one more chance to decide wrongly. The looks therefore share the error (Bonferroni).
"""

from dataclasses import replace

from wblab.analysis.statistics.intervals import DEFAULT, LEAST_RUNS, Resampling


def looks(most: int) -> tuple[int, ...]:
    """Return the numbers of seeds after which to look: 3, 5, 8, 13 …, and finally `most`, which is at least 3."""
    found, following = [LEAST_RUNS], 5
    while found[-1] < most:
        found.append(min(following, most))
        following = sum(found[-2:])
    return tuple(found)


def for_looks(count: int, alone: Resampling = DEFAULT) -> Resampling:
    """Return the resampling whose confidence is corrected for `count` looks."""
    return replace(alone, confidence=1 - (1 - alone.confidence) / count)
