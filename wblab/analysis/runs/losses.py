"""How many events the trace of a run lost."""

import re

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import Run

_LOST = re.compile(r"the trace lost (\d{1,18}) events")  # wblab.guest.init, by the kernel's own counters


def events_lost(run: Run) -> int:
    """Return how many events a run's trace lost, which fails a run; 0 of one that did not fail by that."""
    found = _LOST.search(run.failure)
    return int(found[1]) if found else 0


def lost_share(run: Run) -> float:
    """Return the share of all events that were lost, in per cent. Raises InputError for a damaged trace."""
    lost, kept = events_lost(run), sum(page_cache(run).counts.values())
    return 100 * lost / (lost + kept)
