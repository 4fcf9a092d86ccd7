"""Which cells of a study need more seeds."""

from dataclasses import replace

import pandas as pd

from wblab.analysis.groups.comparison import About, Difference, compare
from wblab.analysis.groups.observations import NOISY_COLUMN, observations
from wblab.analysis.statistics.intervals import Resampling
from wblab.core.loads import KINDS
from wblab.lab.formats import COLUMNS

# What is decided: of innocent loads, the metrics that users ask about first.
_ASKED = ("longest_pause_s", "paused_s", "wait_time_s")
_SAME = 0.05  # means that are shown to differ by less than this share need no more seeds
_AXIS = "compared"


def undecided(table: pd.DataFrame, resampling: Resampling) -> set[str]:
    """Return the cells of a study's table of which a difference from the first cell is not decided.

    Decided means: claimed, or shown to be less than 5 %.
    """
    cells = list(dict.fromkeys(map(str, table["cell"])))
    if len(cells) < 2:
        return set()
    columns = ["seed", *COLUMNS, *([NOISY_COLUMN] if NOISY_COLUMN in table.columns else [])]
    data = observations(table[columns].assign(**{_AXIS: table["cell"].map(str)}))
    innocent = [kind for kind, load in KINDS.items() if load.role == "innocent"]
    asked = data.table[data.table["metric"].isin(_ASKED) & data.table["kind"].isin(innocent)]
    found = compare(replace(data, table=asked), resampling)
    return {item.name for item in found.differences if not is_decided(item)}


def is_asked(about: About) -> bool:
    """Whether a study gets more seeds until this is decided."""
    return about.metric in _ASKED and about.sort.role == "innocent"


def is_decided(item: Difference) -> bool:
    """Whether a difference is claimed, or shown to be less than 5 %."""
    if item.claim or item.is_below_resolution or (item.interval.without_spread and not item.interval.estimate):
        return True
    ratio = item.found.ratio
    return bool(
        ratio and ratio.low is not None and ratio.high is not None and ratio.low > 1 - _SAME and ratio.high < 1 + _SAME
    )
