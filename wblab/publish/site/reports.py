"""The report of a study, made anew from its runs, with its pictures as files of the site and its links to its runs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from wblab.core.errors import InputError
from wblab.lab.designs import (
    AB,
    ADVISE,
    EXPLORE,
    FINDING,
    MATRIX,
    STUDY_AGAIN,
    TRIAL,
    TWIN,
    VERIFY,
    WITNESS,
)
from wblab.lab.formats import TRIED, VERDICTS, VERIFICATION
from wblab.publish.site.page import File
from wblab.report.report import Picture, Report, Span, changed
from wblab.study.store import Store


def placed(
    report: Report, folder: str, target: Callable[[str], str | None], stem: str = "picture"
) -> tuple[Report, list[File]]:
    """Return a report for a page of the site, and its pictures: as files, because twelve make a page larger than 1 MB.

    folder: that of the page. target: the site's address for a link, from that folder; None drops it. stem: of the
    pictures' names.
    """
    pictures: list[File] = []

    def picture(found: Picture) -> Picture:
        name = f"{stem}-{len(pictures) + 1}.{'svg' if found.svg else 'png'}"
        pictures.append(File(f"{folder}/{name}", found.svg.encode() or found.png))
        return Picture(found.what or f"Figure {len(pictures)} of the report", address=name)

    def span(found: Span) -> Span:
        if not found.link or found.link.startswith("#"):
            return found
        return Span(found.text, found.look, target(found.link) or "", found.form)

    return changed(report, span, picture), pictures


def report_of(store: Store) -> Report:
    """Return the report of a study. Raises InputError where its design or its runs have none."""
    make = _REPORTS.get(store.plan.design)
    if make is None:
        raise InputError(f"a study of wblab {store.plan.design} has no report here: its cells are below")
    return make(store)


def _comparison(store: Store) -> Report:
    from wblab.analysis.runs.comparison import compare
    from wblab.analysis.runs.observations import found_observations, looks_at
    from wblab.analysis.statistics.decision import for_looks
    from wblab.analysis.statistics.intervals import Resampling
    from wblab.plot.comparison import comparison_figure, svg
    from wblab.report.comparisonreport import report

    named, results = [str(store.path)], store.path.parent
    resampling = for_looks(looks_at(named, results), Resampling(seed=0))
    comparison = compare(found_observations(named, results), resampling)
    return report(comparison, figure=svg(comparison_figure(comparison)))


def _kernels(store: Store) -> Report:
    from wblab.study.designs.ab.report import report
    from wblab.study.designs.ab.result import result

    return report(result(store, None))  # making a site boots nothing


def _exploration(store: Store) -> Report:
    from wblab.analysis.sensitivity.analysis import analyse
    from wblab.plot.exploration import drawn_report
    from wblab.study.designs.explore.record import observed

    found = observed(store.path, store.plan.cells[0].spec)
    return drawn_report(analyse(found, seed=0), found, "What it depends on")


def _trial(store: Store) -> Report:
    from wblab.study.designs.trial.recommendations import read_wisdom
    from wblab.study.designs.trial.report import write_report
    from wblab.study.designs.trial.run import result_of

    wisdom = read_wisdom(store.path / TRIED)
    there = {cell.levels.get("recommendation") for cell in store.plan.cells}
    wisdom = wisdom.only([key for key in wisdom.values() if key in there])
    with TemporaryDirectory() as room:  # the study stays as it is
        return write_report(result_of(store, wisdom), Path(room))[0]


def _verification(store: Store) -> Report:
    """Return the verdicts that the verification kept: judging anew would need all its traces."""
    from wblab.study.designs.verify.report import kept_report

    path = store.path / VERDICTS
    try:
        return kept_report(VERIFICATION.read(path))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error})") from None


def _advice(store: Store) -> Report:
    from wblab.study.designs.advise.record import recorded
    from wblab.study.designs.advise.report import report
    from wblab.study.designs.advise.result import result_of

    return report(replace(result_of(store, recorded(store)), path=Path(store.path.name)))


def _twin(store: Store) -> Report:
    from wblab.study.designs.twin.result import report, result_of

    return report(result_of(store), store.path)


def _witness(store: Store) -> Report:
    from wblab.kernels import built_kernels
    from wblab.study.designs.witness.report import report, witnessed
    from wblab.study.designs.witness.substrates import AXIS, substrate

    kernels = (substrate(str(cell.levels[AXIS])).kernel for cell in store.plan.cells)
    return report(replace(witnessed(store, built_kernels(*kernels), STUDY_AGAIN), directory=Path(store.path.name)))


def _finding(store: Store) -> Report:
    from wblab.study.designs.finding import kept
    from wblab.study.designs.finding.fill import measured
    from wblab.study.designs.finding.finding import find, read
    from wblab.study.designs.finding.report import repeated

    directory = find(store.plan.name)
    finding = read(directory)
    found = dict(measured(store, [point for point, _ in finding.tested()]))
    return repeated(finding, kept.read(directory), found, [store.path.name])


_REPORTS: Mapping[str, Callable[[Store], Report]] = {
    MATRIX: _comparison,
    AB: _kernels,
    EXPLORE: _exploration,
    TRIAL: _trial,
    VERIFY: _verification,
    ADVISE: _advice,
    TWIN: _twin,
    WITNESS: _witness,
    FINDING: _finding,
}
