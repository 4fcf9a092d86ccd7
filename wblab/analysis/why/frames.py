"""An explained pause as pandas frames for a notebook. Times in s."""

import pandas as pd

from wblab.analysis.runs.run import Run
from wblab.analysis.why.ends import end_of
from wblab.analysis.why.explain import Cause, Explanation
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.verdict import in_context
from wblab.core.units import NS_PER_S


def parts_frame(item: Explanation) -> pd.DataFrame:
    """Return the parts of a pause, one a row, and their sum in the last row."""
    rows = [(what, time_ns / NS_PER_S, 100 * time_ns / item.pause_ns) for what, time_ns in item.parts.items()]
    total = ("total", sum(item.parts.values()) / NS_PER_S, 100.0)
    return pd.DataFrame([*rows, total], columns=["what", "time (s)", "share (%)"]).set_index("what").round(6)


def chains_frame(item: Explanation) -> pd.DataFrame:
    """Return the chains of waiting tasks, one a row, the longest first."""
    rows = [
        (chain.time_ns / NS_PER_S, " <- ".join(f"{name}: {what}" for name, what in chain.links), end_of(chain))
        for chain in item.chains
    ]
    return pd.DataFrame(rows, columns=["time (s)", "who waited for whom", "how it ended"]).round(6)


def stacks_frame(cause: Cause) -> pd.DataFrame:
    """Return the stacks of the sleeper and of the waker, innermost function first."""
    columns = (tuple(reversed(cause.functions)), in_context(cause.woken_in))
    frame = pd.DataFrame([pd.Series(column, dtype=object) for column in columns]).T
    return frame.fillna("").set_axis(["stack of the sleeper", "stack of the waker"], axis="columns")


def proof_frame(run: Run, recorded: Recorded, cause: Cause) -> pd.DataFrame:
    """Return the events that are the evidence of a wait."""
    found = [recorded.sequence.described(rank) for rank in cause.events]
    rows = [
        (
            (event.ts_ns - run.zero_ns) / NS_PER_S,
            event.comm,
            event.name,
            " ".join(f"{key}={value}".strip() for key, value in event.fields.items()),
        )
        for event in found
    ]
    return pd.DataFrame(rows, columns=["at (s)", "task", "event", "fields"])


def ahead_frame(cause: Cause) -> pd.DataFrame:
    """Return the I/O that the disk completed up to the request that ended a wait, by who dirtied it, most first."""
    sizes = cause.request.ahead if cause.request else cause.written
    frame = pd.DataFrame([(name, size / 1e6) for name, size in sizes.items()], columns=["from", "MB"])
    frame["share (%)"] = 100 * frame["MB"] / frame["MB"].sum()
    return frame.set_index("from").round(2)
