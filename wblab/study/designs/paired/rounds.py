"""The number of seeds: a few for all cells, and more for the undecided ones."""

from collections.abc import Sequence

from wblab.study.cells import Cell, run_name
from wblab.study.designs.paired.asked import ASKED
from wblab.study.designs.paired.judged import Tried, baseline
from wblab.study.designs.paired.plan import SCENARIO
from wblab.study.designs.paired.recommendations import Expectation

ROUNDS = (5, 10, 20)  # seeds; as many as verdict.LOOKS


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
