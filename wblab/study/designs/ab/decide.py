"""The runs of a comparison: more and more seeds, only for the pairs that are not decided yet."""

from collections.abc import Callable, Sequence

from wblab.analysis.runs.observations import read_table
from wblab.analysis.statistics.decision import for_looks, looks
from wblab.study.cells import run_name
from wblab.study.designs.ab.figures import Figures, figures, undecided
from wblab.study.designs.ab.plan import Pair
from wblab.study.run import Tally, run_store
from wblab.study.store import Store


def run_pairs(store: Store, pairs: Sequence[Pair], jobs: int | None, tell: Callable[[str], None]) -> Tally:
    """Make runs with 3, 5, 8, 13 … seeds of both cells of each pair until their differences are decided.

    tell: is called with a line after each look. Raises WblabError.
    """
    numbers, still, whole = looks(len(store.plan.seeds)), list(pairs), Tally(0)
    for seeds in numbers:
        cells = {cell.name: cell for pair in still for cell in (pair.before, pair.after)}
        wanted = {run_name(cell, seed) for cell in cells.values() for seed in store.plan.seeds[:seeds]}
        tally = run_store(store, None, jobs, wanted)
        whole = whole.plus(tally)
        if tally.failures:
            break
        still = undecided(measured(store, pairs))
        tell(f"{seeds} seeds: {len(still)} of {len(pairs)} comparisons of a spec are not decided")
        if not still:
            break
    return whole


def measured(store: Store, pairs: Sequence[Pair]) -> Figures:
    """Return the figures of a study's runs. Raises InputError if it has none."""
    return figures(read_table(store.path), pairs, for_looks(len(looks(len(store.plan.seeds)))))
