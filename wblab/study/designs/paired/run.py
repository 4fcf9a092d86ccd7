"""The runs of a trial in rounds, a few seeds for all cells and more for the undecided ones; and its result."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wblab.study.cells import Cell, run_name
from wblab.study.designs.paired.asked import ASKED, read_answer
from wblab.study.designs.paired.judged import Tried, baseline, judged
from wblab.study.designs.paired.measured import measured
from wblab.study.designs.paired.plan import RECOMMENDATION, SCENARIO
from wblab.study.designs.paired.recommendations import Expectation, Wisdom
from wblab.study.designs.paired.result import Result, count_runs
from wblab.study.run import run_store
from wblab.study.store import Store

if TYPE_CHECKING:
    from distributed import Client

ROUNDS = (5, 10, 20)  # seeds; as many as verdict.LOOKS


def run_rounds(
    store: Store, wisdom: Wisdom, client: "Client | None", jobs: int | None, tell: Callable[[str], None]
) -> dict[str, str]:
    """Make the missing runs of a trial, round by round; return the failed runs by name, with the reasons.

    client, jobs: see wblab.study.run.run_store. tell: is called with a line after each round. Raises WblabError.
    """
    cells = store.plan.cells
    failed: dict[str, str] = {}
    for place, seeds in enumerate(rounds(len(store.plan.seeds))):
        if place == 0:
            wanted = first_runs(cells, seeds)
        else:
            tried = judged_now(store, wisdom)
            wanted = further_runs(tried, cells, seeds)
            tell(f"{sum(item.is_open for item in tried)} of {len(tried)} are undecided: up to {seeds} seeds for those")
        wanted -= failed.keys()
        if not store.missing(wanted):
            continue
        tally = run_store(store, client, jobs, wanted)
        failed |= {run_name(item.cell, item.seed): reason for item, reason in tally.failures}
        if store.plan.shard:
            break  # what is undecided, all parts together decide
    return failed


def judged_now(store: Store, wisdom: Wisdom) -> list[Tried]:
    """Return the results of all values from the present runs."""
    return judged(measured(store, wisdom), store.plan.cells, looks=len(rounds(len(store.plan.seeds))))


def result_of(store: Store, wisdom: Wisdom) -> Result:
    """Return the result of a trial from its runs. Raises InputError if one is damaged."""
    cells, there = store.plan.cells, set(os.listdir(store.runs))
    answers = {
        str(cell.levels[RECOMMENDATION]): read_answer(store.runs / run_name(cell, 1))
        for cell in cells
        if cell.levels[SCENARIO] == ASKED and run_name(cell, 1) in there
    }
    count, seeds = count_runs(cells, there, store.plan.seeds)
    kernel = next(iter(store.kernels.values()))
    return Result(wisdom, tuple(judged_now(store, wisdom)), answers, kernel, count, seeds)


def rounds(most: int) -> list[int]:
    """Return the number of seeds of each round."""
    return sorted({min(count, most) for count in ROUNDS})


def first_runs(cells: Sequence[Cell], seeds: int) -> set[str]:
    """Return the names of the first round's runs: all seeds of each cell, but one seed to ask the kernel."""
    return {
        run_name(cell, seed)
        for cell in cells
        for seed in range(1, (1 if cell.levels[SCENARIO] == ASKED else seeds) + 1)
    }


def further_runs(tried: Sequence[Tried], cells: Sequence[Cell], seeds: int) -> set[str]:
    """Return the names of the runs of all open cells, and of the cells that they are compared with."""
    chosen: dict[str, Cell] = {}
    for item in tried:
        if item.is_open:
            others = [baseline(cells, item.cell), *(_against(item, kept.expectation, cells) for kept in item.kept)]
            chosen |= {cell.name: cell for cell in (item.cell, *others) if cell is not None}
    return {run_name(cell, seed) for cell in chosen.values() for seed in range(1, seeds + 1)}


def _against(item: Tried, expectation: Expectation, cells: Sequence[Cell]) -> Cell | None:
    value = next((value for value in item.recommendation.value if value.name == expectation.against), None)
    return None if value is None else baseline(cells, item.cell, item.recommendation.key(value))
