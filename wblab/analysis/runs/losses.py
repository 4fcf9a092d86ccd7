"""The number of events that the trace of a run lost."""

import re

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import Run

_LOST = re.compile(r"the trace lost (\d{1,18}) events")  # wblab.guest.init, by the kernel's own counters


def events_lost(run: Run) -> int:
    """Return the number of events that a run's trace lost, which makes the run fail; 0 if it did not fail for that."""
    found = _LOST.search(run.failure)
    return int(found[1]) if found else 0


def lost_share(run: Run) -> float:
    """Return the lost share of all events, in per cent. Raises InputError for a damaged trace."""
    lost, kept = events_lost(run), sum(page_cache(run).counts.values())
    return 100 * lost / (lost + kept)
