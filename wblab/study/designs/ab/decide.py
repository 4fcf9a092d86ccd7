"""What decides a comparison of kernels: both sides of each pair get more seeds until their differences are decided."""

from collections.abc import Sequence

from wblab.analysis.runs.observations import read_table
from wblab.analysis.statistics.decision import for_looks, looks
from wblab.study.designs.ab.figures import Figures, figures, undecided
from wblab.study.designs.ab.plan import Pair
from wblab.study.designs.decided import Open, Question
from wblab.study.store import Store


def question(store: Store, pairs: Sequence[Pair]) -> Question:
    """Return the question whether the two cells of each pair differ."""

    def look() -> Open:
        still = undecided(measured(store, pairs))
        cells = {cell.name: cell for pair in still for cell in (pair.before, pair.after)}
        return Open(cells.values(), f"{len(still)} of {len(pairs)} comparisons of a spec are not decided")

    return Question(looks(len(store.plan.seeds)), look)


def measured(store: Store, pairs: Sequence[Pair]) -> Figures:
    """Return the figures of a study's runs. Raises InputError if it has none."""
    return figures(read_table(store.path), pairs, for_looks(len(looks(len(store.plan.seeds)))))
