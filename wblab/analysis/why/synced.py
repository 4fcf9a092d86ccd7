"""How often programs slept in fsync while a load was stalled: many small ones fill a disk with few bytes."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from wblab.analysis.why.parties import Parties
from wblab.analysis.why.recorded import Recorded

_FSYNC = frozenset(
    (
        *("vfs_fsync_range", "do_fsync", "generic_write_sync", "ext4_sync_file", "xfs_file_fsync"),
        *("btrfs_sync_file", "f2fs_sync_file", "f2fs_do_sync_file"),
    )
)


def synced_by(recorded: Recorded, parties: Parties, pid: int, span_ns: tuple[int, int]) -> Mapping[str, int]:
    """Return how often the tasks of each party began to sleep in fsync or fdatasync in a span of time, the most first.

    Also in writes that O_SYNC made such. pid: a task that does not count.
    """
    chosen = recorded.once(
        "fsync's stacks",
        lambda: [at for at, stack in enumerate(recorded.stacks.known) if not _FSYNC.isdisjoint(stack)],
    )
    spans = recorded.offcpu
    is_inside = (spans.ts_ns >= span_ns[0]) & (spans.ts_ns < span_ns[1])
    rows = np.flatnonzero(is_inside & np.isin(spans.stack, chosen) & (spans.pid != pid))
    found: Counter[str] = Counter()
    for row in rows.tolist():
        found[parties.owner(recorded.tasks.lives.key(int(spans.pid[row]), int(spans.rank[row])))] += 1
    return dict(found.most_common())
