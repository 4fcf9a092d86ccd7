"""An excerpt of a run's trace: what the kernel did in the middle of a load's longest pause."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tracecmd.sequence import Described

from wblab.analysis.runs.pagecache import page_cache
from wblab.analysis.runs.run import Run, read_run
from wblab.claims.finding.finding import Excerpt
from wblab.core.units import NS_PER_S
from wblab.report.quantities import duration

FILE = "trace.txt"
_DISK = ("bdi", "name")  # fields of writeback events that name a disk


def excerpt(directory: Path, wanted: Excerpt) -> str:
    """Return the excerpt from the run in a directory: how often each event came in the pause, then some of them.

    Raises InputError if the run has no readable trace.
    """
    run = read_run(directory)
    item = run.load(wanted.load)
    longest = int(item.pauses_ns.argmax())
    start_ns, pause_ns = int(item.boundaries_ns[longest]), int(item.pauses_ns[longest])
    events = list(_events(run, wanted, start_ns, start_ns + pause_ns))
    counts = Counter(event.name for event in events)
    middle = next((at for at, event in enumerate(events) if event.ts_ns >= start_ns + pause_ns // 2), 0)
    counted = "\n".join(f"{count:8,}  {name}" for name, count in counts.most_common())
    lines = "\n".join(_line(event, wanted, run.zero_ns) for event in events[middle : middle + wanted.count])
    head = f"{wanted.load} waits for {duration(pause_ns)}. In that time, for its disk ({wanted.disk}):"
    return f"{head}\n\n{counted}\n\nFrom the middle of it (s since the loads started, event, fields):\n\n{lines}\n"


def _events(run: Run, wanted: Excerpt, start_ns: int, end_ns: int) -> Iterator[Described]:
    sequence = page_cache(run).trace.sequence()
    first, last = np.searchsorted(sequence.ts_ns, [start_ns, end_ns])
    for index in range(int(first), int(last)):
        event = sequence.described(index)
        if event.name.rpartition("/")[2] in wanted.events and _is_of(event, wanted.disk):
            yield event


def _is_of(event: Described, disk: str) -> bool:
    named = [event.fields[name] for name in _DISK if name in event.fields]
    return not named or disk in (each.strip('"') for each in named)


def _line(event: Described, wanted: Excerpt, zero_ns: int) -> str:
    name = event.name.rpartition("/")[2]
    fields = " ".join(f"{field}={event.fields[field]}" for field in wanted.events[name] if field in event.fields)
    return f"{(event.ts_ns - zero_ns) / NS_PER_S:.6f} {name}: {fields}"
