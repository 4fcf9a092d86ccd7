"""The report of a study, made anew from its runs: what differs, which claims hold, what an exploration shows."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from wblab.core.errors import InputError
from wblab.lab.formats import TRIED, VERDICTS, VERIFICATION
from wblab.publish.site.verdicts import verdicts_page
from wblab.study.store import Store


def report_of(store: Store) -> str:
    """Return the report of a study as a page of its own. Raises InputError where its design or its runs have none."""
    make = _REPORTS.get(store.plan.design)
    if make is None:
        raise InputError(f"a study of wblab {store.plan.design} has no report here: its cells are below")
    return make(store)


def _comparison(store: Store) -> str:
    from wblab.analysis.runs.comparison import compare
    from wblab.analysis.runs.observations import found_observations, looks_at
    from wblab.analysis.statistics.intervals import Resampling
    from wblab.analysis.statistics.looks import for_looks
    from wblab.plot.comparison import comparison_figure, svg
    from wblab.report.comparisonreport import report
    from wblab.report.page import page

    named, results = [str(store.path)], store.path.parent
    resampling = for_looks(looks_at(named, results), Resampling(seed=0))
    comparison = compare(found_observations(named, results), resampling)
    return page(report(comparison, figure=svg(comparison_figure(comparison))))


def _exploration(store: Store) -> str:
    from wblab.analysis.sensitivity.analysis import analyse
    from wblab.plot.explorationpage import exploration_page
    from wblab.study.designs.sample.record import observed

    found = observed(store.path, store.plan.cells[0].spec)
    return exploration_page(analyse(found, seed=0), found, "What it depends on")


def _trial(store: Store) -> str:
    from wblab.study.designs.paired.recommendations import read_wisdom
    from wblab.study.designs.paired.report import write_report
    from wblab.study.designs.paired.run import result_of

    wisdom = read_wisdom(store.path / TRIED)
    there = {cell.levels.get("recommendation") for cell in store.plan.cells}
    wisdom = wisdom.only([key for key in wisdom.values() if key in there])
    with TemporaryDirectory() as room:  # the study stays as it is
        return write_report(result_of(store, wisdom), Path(room))[1].read_text()


def _verification(store: Store) -> str:
    """Return the verdicts that the verification kept: judging anew would need all its traces."""
    path = store.path / VERDICTS
    try:
        return verdicts_page(VERIFICATION.read(path))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error})") from None


_REPORTS: Mapping[str, Callable[[Store], str]] = {
    "matrix": _comparison,
    "ab": _comparison,
    "explore": _exploration,
    "trial": _trial,
    "verify": _verification,
}
