"""Make the runs of a finding, keep what they say if that is wanted, and judge its statements."""

from collections.abc import Sequence
from pathlib import Path

from wblab.claims.finding import NAME, claimtable, excerpt, kept
from wblab.claims.finding.fill import cells_of, measured, plan
from wblab.claims.finding.finding import Finding, Point, find, read
from wblab.claims.finding.kept import MeasuredPoint, judged
from wblab.claims.finding.report import repeated
from wblab.claims.sources.registry import chosen
from wblab.claims.verify.make import verdicts_on
from wblab.core.errors import InputError
from wblab.kernels import built_kernels, full_name
from wblab.lab.places import check_checkout
from wblab.report.report import Report
from wblab.study.asked import Failures, StudyAnswer, StudyRequest
from wblab.study.begin import Planned, begun
from wblab.study.cells import run_name
from wblab.study.run import run_store
from wblab.study.store import Store

_SEEDS, _KEPT_SEEDS = 3, 10
_CLAIMS = "claims"


def make(asked: StudyRequest) -> StudyAnswer:
    """Repeat a finding's runs; with `update` keep what they say. A statement that does not hold is a lack."""
    directory = find(_name(asked))
    finding = read(directory)
    if asked.update:
        check_checkout(directory, "--update")
    elif asked.parts:
        raise InputError("a part is for --update, which measures figures anew: leave it out")
    before = kept.read(directory)
    found: dict[Point, MeasuredPoint] = {}
    stores: list[Store] = []
    failures = Failures()
    for points, seeds in _studies(asked, finding):
        store, failures = _made(asked, points, seeds)
        stores.append(store)
        found |= measured(store, points)
        if failures.runs:
            break
        if asked.update:
            kept.write(directory, {**before, **found}, finding.shown())
            _keep_excerpt(directory, finding, points, store)
    if asked.update and not failures.runs and finding.claims and (not asked.parts or _CLAIMS in asked.parts):
        _keep_verdicts(asked, finding, directory)
    paths = [str(store.path) for store in stores]
    holds = all(one.holds for one in judged(finding, found))
    return StudyAnswer(
        stores[-1].path if stores else directory,
        repeated(finding, before, found, paths),
        paths,
        failures=failures,
        lack="" if holds else "not every statement holds in every run",
    )


def report_of(store: Store) -> Report:
    """Return which statements hold in a study of a finding. Raises InputError."""
    directory = find(store.plan.name)
    finding = read(directory)
    found = dict(measured(store, [point for point, _ in finding.tested()]))
    return repeated(finding, kept.read(directory), found, [store.path.name])


def _name(asked: StudyRequest) -> str:
    """Return the finding: the one that was named, or that of the study that is resumed. Raises InputError."""
    return asked.what if asked.what or not asked.resume else Store.open(asked.resume, NAME).plan.name


def _studies(asked: StudyRequest, finding: Finding) -> list[tuple[list[Point], int]]:
    """Return the cells of each study to make, and its seeds: one study for all cells with the same number of seeds.

    Raises InputError for a matrix that the finding has no figures from.
    """
    if not asked.update:
        return [([point for point, _ in finding.tested()], asked.seeds or _SEEDS)]
    points = [*(point for point, _ in finding.shown()), *(each.point() for each in finding.trace)]
    known = sorted({point.matrix for point in points})
    studies: dict[int, list[Point]] = {}
    for name in asked.parts or known:
        if name == _CLAIMS and finding.claims:
            continue
        if name not in known:
            raise InputError(f"{name}: no figure of {_name(asked)} is from it: choose {', '.join(known)}")
        seeds = asked.seeds or finding.seeds.get(name, _KEPT_SEEDS)
        studies.setdefault(seeds, []).extend(point for point in points if point.matrix == name)
    return [(points, seeds) for seeds, points in studies.items()]


def _made(asked: StudyRequest, points: Sequence[Point], seeds: int) -> tuple[Store, Failures]:
    """Make a study's runs; return it, and those that failed. Raises WblabError."""
    resolve = built_kernels()
    if asked.resume:
        planned = Planned.again(asked, NAME, resolve, lambda store: cells_of(store, points))
    else:
        planned = Planned.new(plan(_name(asked), points, seeds), resolve)
    matrices = (name for name in dict.fromkeys(point.matrix for point in points))
    again = " ".join(["wblab study", *(["--update", *matrices] if asked.update else []), "--resume"])
    with begun(asked, resolve, planned, again) as (store, _):
        tally = run_store(store, None, asked.jobs)
    return store, Failures.of(store, tally, again)


def _keep_excerpt(directory: Path, finding: Finding, made: Sequence[Point], store: Store) -> None:
    """Keep the excerpt of a trace if its run was made."""
    for each in finding.trace:
        if each.point() in made:
            (cell,) = cells_of(store, [each.point()]).values()
            (directory / excerpt.FILE).write_text(excerpt.excerpt(store.runs / run_name(cell, 1), each))


def _keep_verdicts(asked: StudyRequest, finding: Finding, directory: Path) -> None:
    """Check the claims of all tables on each of their kernels, and keep what is found after each. Raises WblabError."""
    wanted: dict[tuple[str, str, int], list[str]] = {}
    for table in finding.claims.values():
        for kernel in table.kernels:
            wanted.setdefault((table.source, kernel, table.seeds), []).extend(table.rows.values())
    for (source, kernel, seeds), names in wanted.items():
        claims = chosen(list(dict.fromkeys(names)), source)
        name = f"{directory.name}-{source}-{kernel}"
        verdicts = verdicts_on(asked, source, claims, full_name(kernel), asked.seeds or seeds, name)
        claimtable.write(
            directory, {**claimtable.read(directory), **claimtable.seen(kernel, verdicts)}, finding.claims.values()
        )
