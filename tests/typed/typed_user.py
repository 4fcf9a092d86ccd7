"""A user's program, which mypy checks with the lab (`make lint`). Where it is wrong, there is an error to ignore."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import wblab


def run() -> None:
    """Make a run and look at it."""
    made: wblab.Run = wblab.run("base-device", seed=3, set={"disk.queue.nr_requests": 4})
    again: wblab.Run = wblab.run(made.path, reuse=True)
    pauses: pd.DataFrame = again.pauses
    figure: Figure = made.timeline("longest", causes=False)
    events: pd.DataFrame = made.trace["balance_dirty_pages"]
    durations_ns: np.ndarray = made.load("w1").durations_ns
    print(pauses, figure.axes, events, durations_ns.max(), made.plot("w1", ax=figure.gca()).get_title())
    wblab.run(sed=3)  # type: ignore[call-arg]
    wrong: int = made.pauses  # type: ignore[assignment]
    print(wrong)


def why(made: wblab.Run) -> float:
    """Explain its pauses."""
    found: wblab.Why = made.why(bound_s=0.1)
    longest: wblab.ExplainedPause = found.longest
    tables: list[pd.DataFrame] = [found.pauses, longest.parts, longest.stacks(), made.layers().states]
    print(found.answer, tables)
    return longest.duration_s


def many() -> Iterator[str]:
    """Make studies and compare them."""
    study = wblab.run_study("remedies", seeds=10, reuse=True)
    comparison: wblab.Comparison = study.compare(load=["w1"], baseline={"remedy": "none"})
    yield comparison.answer
    for one in study:
        yield one.spec.name
    exploration = wblab.read("writeback")
    if isinstance(exploration, wblab.Exploration):
        yield exploration.analyse().answer
    try:
        yield repr(wblab.open(Path("run.wblab")))
        yield str(wblab.read("latest")), wblab.runs()  # type: ignore[misc]
    except wblab.InputError as error:
        yield str(error)
