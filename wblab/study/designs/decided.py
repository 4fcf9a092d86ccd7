"""Runs of a matrix with more and more seeds, only for the cells that are not decided yet."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from wblab.analysis.statistics.decision import for_looks, looks
from wblab.study.cells import run_name
from wblab.study.run import Tally, run_store
from wblab.study.store import Store

if TYPE_CHECKING:
    from distributed import Client


def run_until_decided(store: Store, client: "Client | None", jobs: int | None, tell: Callable[[str], None]) -> Tally:
    """Make runs with 3, 5, 8, 13 … seeds of each cell until its differences from the first cell are decided.

    At most as many seeds as the plan has. tell: is called with a line after each look. Raises WblabError.
    """
    from wblab.analysis.runs.observations import read_table
    from wblab.analysis.runs.undecided import undecided

    first, *others = store.plan.cells
    plan, still, whole = looks(len(store.plan.seeds)), list(others), Tally(0)
    for seeds in plan:
        cells = [first, *still]
        wanted = {run_name(cell, seed) for cell in cells for seed in store.plan.seeds[:seeds]}
        tally = run_store(store, client, jobs, wanted)
        whole = whole.plus(tally)
        if tally.failures:
            break
        names = undecided(read_table(store.path), for_looks(len(plan)))
        still = [cell for cell in others if cell.name in names]
        tell(f"{seeds} seeds: {len(still)} of {len(others)} cells are not decided")
        if not still:
            break
    return whole
