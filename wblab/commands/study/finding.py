"""wblab study of a finding: repeat the runs that its statements are about, and say which still hold."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import tell
from wblab.core.errors import InputError, WblabError
from wblab.lab.designs import FINDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wblab.study.designs.finding.finding import Finding, Point
    from wblab.study.designs.finding.kept import Kept, Measured
    from wblab.study.store import Store

_SEEDS, _KEPT_SEEDS = 3, 10
_CLAIMS = "claims"


def make(arguments: argparse.Namespace) -> None:
    """Repeat a finding's runs; with --update keep what they say. Raises WblabError if a statement does not hold."""
    from wblab.commands.study.verify import keep_verdicts
    from wblab.lab.places import check_checkout
    from wblab.study.designs.finding import kept
    from wblab.study.designs.finding.fill import measured
    from wblab.study.designs.finding.finding import find, read

    directory = find(_name(arguments))
    finding = read(directory)
    if arguments.update:
        check_checkout(directory, "--update")
    elif arguments.parts:
        raise InputError("a part is for --update, which measures figures anew: leave it out")
    before = kept.read(directory)
    found: dict[Point, Measured] = {}
    stores, lost = [], ""
    for points, seeds in _studies(arguments, finding):
        store, lost = _made(arguments, points, seeds)
        stores.append(str(store.path))
        found |= measured(store, points)
        if lost:
            break
        if arguments.update:
            kept.write(directory, {**before, **found}, finding.shown())
            _keep_excerpt(directory, finding, points, store)
    if arguments.update and not lost and finding.claims and (not arguments.parts or _CLAIMS in arguments.parts):
        keep_verdicts(arguments, finding, directory)
    _say(arguments, finding, (before, found), stores)
    if lost:
        raise WblabError(lost)


def names() -> "Iterator[tuple[str, str]]":
    """Yield the name and what it is of those that come with the lab."""
    from wblab.study.designs.finding.finding import names as findings

    yield from ((name, "a finding") for name in findings())


def _name(arguments: argparse.Namespace) -> str:
    """Return the finding: the one that was named, or that of the study that is resumed. Raises InputError."""
    from wblab.commands.many import named
    from wblab.study.store import Store

    if arguments.what:
        return str(arguments.what)
    return Store.open(named(arguments, FINDING), FINDING).plan.name


def _studies(arguments: argparse.Namespace, finding: "Finding") -> "list[tuple[list[Point], int]]":
    """Return the cells of each study to make, and its seeds: one study for all cells with the same number of seeds.

    Raises InputError for a matrix that the finding has no figures from.
    """
    if not arguments.update:
        return [([point for point, _ in finding.tested()], arguments.seeds or _SEEDS)]
    points = [*(point for point, _ in finding.shown()), *(each.point() for each in finding.trace)]
    known = sorted({point.matrix for point in points})
    studies: dict[int, list[Point]] = {}
    for name in arguments.parts or known:
        if name == _CLAIMS and finding.claims:
            continue
        if name not in known:
            raise InputError(f"{name}: no figure of {_name(arguments)} is from it: choose {', '.join(known)}")
        seeds = arguments.seeds or finding.seeds.get(name, _KEPT_SEEDS)
        studies.setdefault(seeds, []).extend(point for point in points if point.matrix == name)
    return [(points, seeds) for seeds, points in studies.items()]


def _made(arguments: argparse.Namespace, points: "Sequence[Point]", seeds: int) -> "tuple[Store, str]":
    """Make a study's runs; return it, and what to say if some failed. Raises WblabError."""
    from wblab.commands.many import Planned, begun, check_failures, failed
    from wblab.kernels import built_kernels
    from wblab.study.begin import described
    from wblab.study.designs.finding.fill import cells_of, plan
    from wblab.study.run import run_store

    resolve = built_kernels()
    if arguments.resume:
        planned = Planned.again(arguments, FINDING, resolve, lambda store: cells_of(store, points))
    else:
        made = plan(_name(arguments), points, seeds)
        planned = Planned(made, described(made, resolve))
    matrices = (name for name in dict.fromkeys(point.matrix for point in points))
    again = " ".join(["wblab study", *(["--update", *matrices] if arguments.update else [])])
    with begun(arguments, resolve, planned, f"{again} --resume") as (store, _):
        tally = run_store(store, None, arguments.jobs)
    try:
        check_failures(store, failed(tally), f"{again} --resume")
    except WblabError as error:
        return store, str(error)
    return store, ""


def _say(
    arguments: argparse.Namespace, finding: "Finding", kept_and_found: "tuple[Kept, Kept]", stores: "Sequence[str]"
) -> None:
    """Print which statements hold, beside what is kept, and where the runs are."""
    from wblab.study.designs.finding.judged import judged
    from wblab.study.designs.finding.report import repeated

    before, now = kept_and_found
    tell(repeated(finding, before, now, stores), *stores, as_json=arguments.json)
    if not all(one.holds for one in judged(finding, now)):
        raise WblabError("not every statement holds in every run")


def _keep_excerpt(directory: Path, finding: "Finding", made: "Sequence[Point]", store: "Store") -> None:
    """Keep the excerpt of a trace if its run was made."""
    from wblab.study.cells import run_name
    from wblab.study.designs.finding import excerpt
    from wblab.study.designs.finding.fill import cells_of

    for each in finding.trace:
        if each.point() in made:
            (cell,) = cells_of(store, [each.point()]).values()
            (directory / excerpt.FILE).write_text(excerpt.excerpt(store.runs / run_name(cell, 1), each))
