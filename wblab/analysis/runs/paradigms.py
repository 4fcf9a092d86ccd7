"""Main loops compared by their way of doing I/O: which one keeps a program responsive?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from wblab.analysis.runs.run import Run, guest_spec
from wblab.core.loads import Loop, Serve
from wblab.core.units import NS_PER_S

LOG, OBJECTS = "log", "objects"


def loop_frame(runs: Sequence[Run]) -> pd.DataFrame:
    """Return a row for each main loop of each run: its work, disk and paradigm, and how it responded.

    longest_s: the longest time without a response. stopped: the share of its time without a response. dropped: the
    share of its work that it dropped. Raises InputError for a live run.
    """
    rows = []
    for run in runs:
        spec = guest_spec(run)
        for item in run.loads:
            if isinstance(item.load, Loop | Serve):
                disk = spec.disk[spec.disk_of(item.name)]
                rows.append(
                    {
                        "work": LOG if isinstance(item.load, Loop) else OBJECTS,
                        "filesystem": disk.filesystem,
                        "write_bps": disk.write_bps,
                        "paradigm": item.load.paradigm,
                        "seed": spec.seed,
                        "longest_s": float(item.pauses_ns.max(initial=0)) / NS_PER_S,
                        "stopped": float(item.pauses_ns.sum() / max(int(item.durations_ns.sum()), 1)),
                        "dropped": item.dropped / max(len(item.durations_ns), 1),
                    }
                )
    return pd.DataFrame(rows)


def worst(frame: pd.DataFrame, figure: str = "longest_s") -> pd.DataFrame:
    """Return a figure's worst seed by work and paradigm (rows), and by filesystem and rate of the disk (columns)."""
    table = frame.pivot_table(
        index=["work", "paradigm"], columns=["filesystem", "write_bps"], values=figure, aggfunc="max"
    )
    return table.iloc[np.lexsort((table.max(axis=1), table.index.get_level_values("work")))]
