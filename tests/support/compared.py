"""Two pretended kernels compared: a plan, its table of results, and what they lead to."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from wblab.analysis.statistics.intervals import Resampling
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.designs.ab.changedpauses import ChangedPause, Pause
from wblab.study.designs.ab.differs import Differs, OptionChange
from wblab.study.designs.ab.figures import ComparedFigures, figures
from wblab.study.designs.ab.made import RepeatedRuns
from wblab.study.designs.ab.plan import AskedKernels, KernelState, KernelStep, Pair, digests, pairs, plan
from wblab.study.designs.ab.result import KernelsResult

NOTHING = Differs((), (), (), (), ())
LOADS = {"w1": "write", "mw1": "multiwrite"}
METRICS = ("longest_pause_s", "paused_s", "mean_cycle_s")


def asked(*labels: str, differs: Differs = NOTHING, programs: str = "abcdefgh") -> AskedKernels:
    """Return a comparison of kernels with these labels, each with the one before it. programs: a letter for each."""
    states = [
        KernelState(label, f"subject of {label}", label, letter * 64)
        for label, letter in zip(labels, programs, strict=False)
    ]
    steps = [KernelStep(number - 1, number, differs) for number in range(1, len(states))]
    return AskedKernels("wblab study --kernels 7.2 7.3", tuple(states), tuple(steps))


def planned(of: AskedKernels, specs: tuple[str, ...] = ("base",), seeds: int = 8):
    """Return the plan."""
    return plan(of, [read_spec(SPECS.find(name)) for name in specs], seeds)


def table(
    compared: list[Pair], seeds: int, longer: Mapping[tuple[str, str], float], spread: float = 0.01
) -> pd.DataFrame:
    """Return results: each metric is 1, and longer by this much in a cell and load. spread: of the seeds, in s."""
    random = np.random.default_rng(3)
    cells = dict.fromkeys(cell.name for pair in compared for cell in (pair.before, pair.after))
    return pd.DataFrame(
        [
            {"cell": cell, "seed": seed, "run": f"{cell}-s{seed}", "load": load, "kind": kind, "metric": metric}
            | {"value": 1 + longer.get((cell, load), 0.0) + random.normal(0, spread)}
            for seed in range(1, seeds + 1)
            for cell in cells
            for load, kind in LOADS.items()
            for metric in METRICS
        ]
    )


def found(
    of: AskedKernels,
    longer: Mapping[tuple[str, str], float] | None = None,
    seeds: int = 8,
    specs: tuple[str, ...] = ("base",),
    spread: float = 0.01,
) -> KernelsResult:
    """Return the result of such a comparison."""
    made = planned(of, specs)
    compared = pairs(made, of)
    rows = (
        figures(table(compared, seeds, longer or {}, spread), compared, Resampling())
        if compared
        else ComparedFigures((), None)
    )
    kernel = {
        "release": "7.2.11",
        "source": "Debian linux-source-7.2 7.2.11-1",
        "build_id": "e" * 64,
        "compiler": "gcc",
    }
    pauses = [
        ChangedPause(
            row.pair,
            row.about.load,
            3,
            Pause("base-a-s3", 10**9, (("throttled", 0.96),), "write"),
            Pause("base-b-s3", 0),
        )
        for row in rows.claimed[:1]
    ]
    return KernelsResult(
        asked=of,
        kernels=(kernel,) * len(of.states),
        specs=digests(made),
        figures=rows,
        pauses=tuple(pauses),
        repeated=RepeatedRuns(("base-a-s1", "base-b-s1"), ()),
        seeds=(seeds, seeds),
        is_virtual=True,
        missing=0,
    )


def renamed(result: KernelsResult, *, label: str, subject: str, source: str, command: str) -> KernelsResult:
    """Return a result with other texts, such as hostile ones."""
    states = tuple(replace(state, label=label, subject=subject) for state in result.asked.states)
    kernels = tuple(dict(kernel) | {"source": source} for kernel in result.kernels)
    return replace(result, asked=replace(result.asked, states=states, command=command), kernels=kernels)


FULL = Differs(
    source=("mm: flush sooner (mm/page-writeback.c +3 -1)", "in all: 1 file changed"),
    options=(OptionChange("CONFIG_HZ", "100", "250"),),
    only_a=(),
    only_b=("variant.patch",),
    features=(OptionChange("cycles", "yes", "no"),),
)
