"""Runs with more and more seeds, only of the cells whose question is not decided yet."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from wblab.analysis.statistics.decision import for_looks, looks
from wblab.lab.formats import LOOKS
from wblab.study.cells import Cell, run_name
from wblab.study.run import Tally
from wblab.study.store import Store


@dataclass(frozen=True)
class Open:
    """What a look at the runs left open. cells: those that need more seeds; none: all is decided. says: how many."""

    cells: Collection[Cell]
    says: str


@dataclass(frozen=True)
class SeedQuestion:
    """What more seeds are to decide.

    seeds: how many each cell has at each look. look: says what the present runs leave open. once: cells whose answer is
    the same with each seed. goes_on: what has no answer because its run failed does not end the others.
    """

    seeds: Sequence[int]
    look: Callable[[], Open]
    once: Collection[Cell] = ()
    goes_on: bool = False

    def wanted(self, cells: Collection[Cell], seeds: Sequence[int]) -> set[str]:
        """Return the names of the runs of some cells with these seeds."""
        return {run_name(cell, seed) for cell in cells for seed in (seeds[:1] if cell in self.once else seeds)}


def run_until_decided(
    store: Store, question: SeedQuestion, run: Callable[[set[str]], Tally], tell: Callable[[str], None]
) -> Tally:
    """Make runs of all cells, then more of those that are left open, until none is.

    run: makes the runs of some names. tell: is called with a line after each look. Runs that failed are not made again.
    Of a part of a study, only the first runs are made: what is open, all parts together decide. Raises WblabError.
    """
    cells: Collection[Cell] = store.plan.cells
    whole, failed = Tally(0), set[str]()
    for seeds in question.seeds:
        tally = run(question.wanted(cells, store.plan.seeds[:seeds]) - failed)
        whole, failed = whole.plus(tally), failed | {run_name(item.cell, item.seed) for item, _ in tally.failures}
        if store.plan.shard or (failed and not question.goes_on):
            break
        left = question.look()
        tell(f"{seeds} seeds: {left.says}")
        if not (cells := left.cells):
            break
    return whole


def of_cells(store: Store) -> SeedQuestion | None:
    """Return the question of each cell's differences from the first one, if a study was planned to decide it."""
    if LOOKS not in store.plan.about:
        return None
    seeds, (first, *others) = looks(len(store.plan.seeds)), store.plan.cells

    def look() -> Open:
        from wblab.analysis.groups.observations import read_table
        from wblab.study.undecided import undecided

        names = undecided(read_table(store.path), for_looks(len(seeds)))
        still = [cell for cell in others if cell.name in names]
        return Open([first, *still] if still else [], f"{len(still)} of {len(others)} cells are not decided")

    return SeedQuestion(seeds, look)
