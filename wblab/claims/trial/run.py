"""What decides a trial: a few seeds of all cells, and more where a recommendation is undecided; and its result."""

from collections.abc import Sequence

from wblab.claims.trial.judged import Tried, baseline, judged
from wblab.claims.trial.measured import measured
from wblab.claims.trial.plan import ASKED, RECOMMENDATION, SCENARIO, read_answer
from wblab.claims.trial.recommendations import Expectation, Wisdom, read_wisdom
from wblab.claims.trial.result import TrialResult, count_runs
from wblab.lab.formats import TRIED
from wblab.study.cells import Cell, run_name
from wblab.study.decided import Open, SeedQuestion
from wblab.study.store import Store

ROUNDS = (5, 10, 20)  # seeds; as many as verdict.LOOKS


def question(store: Store, wisdom: Wisdom) -> SeedQuestion:
    """Return the question what each recommendation does. The kernel, which may refuse a setting, is asked once."""

    def look() -> Open:
        tried = judged_now(store, wisdom)
        says = f"{sum(item.is_open for item in tried)} of {len(tried)} are undecided"
        return Open(open_cells(tried, store.plan.cells), says)

    asked = [cell for cell in store.plan.cells if cell.levels[SCENARIO] == ASKED]
    return SeedQuestion(rounds(len(store.plan.seeds)), look, asked, goes_on=True)


def judged_now(store: Store, wisdom: Wisdom) -> list[Tried]:
    """Return the results of all values from the present runs."""
    return judged(measured(store, wisdom), store.plan.cells, looks=len(rounds(len(store.plan.seeds))))


def result_of(store: Store, wisdom: Wisdom) -> TrialResult:
    """Return the result of a trial from its runs. Raises InputError if one is damaged."""
    cells, there = store.plan.cells, store.kept()
    answers = {
        str(cell.levels[RECOMMENDATION]): read_answer(store.runs / run_name(cell, 1))
        for cell in cells
        if cell.levels[SCENARIO] == ASKED and run_name(cell, 1) in there
    }
    count, seeds = count_runs(cells, there, store.plan.seeds)
    kernel = next(iter(store.kernels.values()))
    return TrialResult(wisdom, tuple(judged_now(store, wisdom)), answers, kernel, count, seeds)


def tried_in(store: Store) -> Wisdom:
    """Return the recommendations that a trial tries. Raises InputError for a damaged file."""
    wisdom = read_wisdom(store.path / TRIED)
    there = {cell.levels.get(RECOMMENDATION) for cell in store.plan.cells}
    return wisdom.only([key for key in wisdom.values() if key in there])


def rounds(most: int) -> list[int]:
    """Return the number of seeds of each round."""
    return sorted({min(count, most) for count in ROUNDS})


def open_cells(tried: Sequence[Tried], cells: Sequence[Cell]) -> list[Cell]:
    """Return all open cells, and those that they are compared with."""
    chosen: dict[str, Cell] = {}
    for item in tried:
        if item.is_open:
            others = [baseline(cells, item.cell), *(_against(item, kept.expectation, cells) for kept in item.kept)]
            chosen |= {cell.name: cell for cell in (item.cell, *others) if cell is not None}
    return list(chosen.values())


def _against(item: Tried, expectation: Expectation, cells: Sequence[Cell]) -> Cell | None:
    value = next((value for value in item.recommendation.value if value.name == expectation.against), None)
    return None if value is None else baseline(cells, item.cell, item.recommendation.key(value))
