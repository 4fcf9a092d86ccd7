"""A study of runs that nobody made, whose texts are a stranger's."""

from dataclasses import replace
from pathlib import Path

from support.runs import MS, write_run_of
from wblab.core.spec import Trace
from wblab.kernels import KernelResolver
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.cells import Cell, run_name
from wblab.study.plan import Plan
from wblab.study.store import Store

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
KERNEL = {"release": HOSTILE, "build_id": "a" * 64, "compiler": HOSTILE}


def cycles(seed: int) -> dict[str, list[int]]:
    """Return boundaries of loads: w1 pauses for as long as its seed says."""
    return {
        "c1": list(range(0, 2000 * MS, 50 * MS)),
        "w1": [0, 60 * MS, (700 + seed) * MS, 1200 * MS],
        "mw1": [0, 110 * MS, 1500 * MS],
        "l1": [0, 900 * MS, 1900 * MS],
        "l2": [0, 300 * MS, 1800 * MS],
    }


def study_in(folder: Path, *, seeds: int = 2, name: str = "hostile") -> Store:
    """Write a study of two cells, whose levels and kernel are named by somebody who means no good."""
    spec = replace(read_spec(SPECS.find("base")), trace=Trace())
    cells = tuple(
        Cell(f"{at}-cell", {"what": HOSTILE * at, HOSTILE: str(at)}, replace(spec, memory=spec.memory * (at + 1)))
        for at in range(2)
    )
    folder.mkdir(parents=True)
    plan = Plan(name, tuple(range(1, seeds + 1)), cells, design="matrix")
    store = Store.begin(folder, plan, {"": KERNEL})
    for cell, seed in plan.runs():
        write_run_of(cell.with_seed(seed), store.runs / run_name(cell, seed), cycles(seed), kernel=KERNEL)
    store.settle()
    return store


def no_kernel(name: str) -> None:
    raise AssertionError("nothing is run")


NO_KERNEL: KernelResolver = no_kernel  # type: ignore[assignment]
