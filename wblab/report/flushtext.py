"""The fits of the flush-time law in words, for a notebook."""

from collections.abc import Iterable

import pandas as pd

from wblab.analysis.runs.flush import Fit
from wblab.analysis.statistics.intervals import Interval
from wblab.report.quantities import interval


def fits_frame(fits: Iterable[Fit]) -> pd.DataFrame:
    """Return fits as a table for a notebook, a row for each disk."""
    rows = [
        {
            "disk": fit.disk,
            "slope": _text(fit.slope),
            "exponent of background": _text(fit.background),
            "exponent of throughput": _text(fit.throughput),
            "agrees with the law": {None: "-", True: "yes", False: "no"}[fit.is_linear],
        }
        for fit in fits
    ]
    return pd.DataFrame(rows).set_index("disk")


def _text(found: Interval | None) -> str:
    return interval(found.estimate, found.low, found.high, "") if found else "-"
