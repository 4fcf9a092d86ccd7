"""What a student looks at over the runs of all specs and seeds: a load's longest pauses, and what a comparison says."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.runs.run import Run
from wblab.core.errors import InputError, nearest
from wblab.lab.printable import printable
from wblab.lab.tables import Table
from wblab.lessons.notebook.html import as_html
from wblab.lessons.notebook.shown import Shown, said
from wblab.lessons.sections import Look, View
from wblab.report.quantities import column

Runs = Mapping[str, Sequence[Run]]  # by the file of their spec


def _seeds(runs: Runs, look: Look) -> Shown:
    """Return a row for each spec and a column for each seed: so the runs of one seed stand below each other."""
    seeds = sorted({run.spec.seed for run in chain(*runs.values())})
    found = {file: {run.spec.seed: _longest_s(run, look.load) for run in each} for file, each in runs.items()}
    texts = iter(column([value for each in found.values() for value in each.values()], "s"))
    cells = {file: {seed: next(texts) for seed in each} for file, each in found.items()}
    rows = [(file, *(each.get(seed, "-") for seed in seeds)) for file, each in cells.items()]
    heads = ("spec", *(f"seed {seed}" for seed in seeds))
    table = Table(rows, heads, frozenset(range(1, len(heads))))
    title = f"Longest pause of {look.load} in each run"
    return Shown(as_html(table, title), "\n".join([printable(title), *table.lines()]))


def _longest_s(run: Run, load: str) -> float:
    for item in run.loads:
        if item.name == load:
            return load_pauses(item, run.zero_ns).longest_pause_s
    raise InputError(f"no load {load!r}{nearest(load, [item.name for item in run.loads])}")


def _compared(runs: Runs, look: Look) -> Shown:
    from wblab.analysis.runs.comparison import compare
    from wblab.analysis.runs.observations import found_observations
    from wblab.report.comparisonreport import report
    from wblab.report.page import fragment
    from wblab.report.report import within
    from wblab.report.text import lines

    paths = [str(run.path) for run in chain(*runs.values())]
    try:
        data = found_observations(paths, Path(), [look.by])
    except InputError:
        return said(f"No two of your runs differ in {look.by} yet. Change it, and press Check.")
    comparison = compare(data).of_these(*([name] if name else [] for name in (look.load, look.metric)))
    found = report(comparison, every=True)
    return Shown(fragment(within(found, "terminal"), 4), "\n".join(lines(found, None)))


SERIES: Mapping[View, Callable[[Runs, Look], Shown]] = {"seeds": _seeds, "compare": _compared}
