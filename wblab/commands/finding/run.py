"""wblab finding run."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_jobs, add_json, add_resume, add_seeds, print_wrapped
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.study.designs.finding.finding import Finding, Point
    from wblab.study.designs.finding.kept import Kept, Measured
    from wblab.study.store import Store

_SEEDS, _KEPT_SEEDS = 3, 10
_CLAIMS = "claims"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Repeat the runs that a finding's statements are about, and say which still hold. In virtual time a run on the "
        "same kernel is the same to the bit, so a difference shows another kernel, lab or machine. Exit code 1 if a "
        "statement does not hold."
    )
    parser.add_argument("name", metavar="NAME", help="a finding: see wblab finding list")
    add_seeds(parser, f"runs of each case (default: {_SEEDS}; with --update as many as the finding says)")
    parser.add_argument(
        "--update",
        action="store_true",
        help="make the runs of all figures, also of those in tables, and keep what they say in the checkout",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="with --update: only the figures from this matrix, or only the verdicts on 'claims'; keep the others as "
        "they are; repeatable",
    )
    add_jobs(parser)
    add_resume(parser)
    add_exp(parser, "the study's directory goes")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from wblab.commands.finding.claims import keep_verdicts
    from wblab.lab.places import check_checkout
    from wblab.study.designs.finding import kept
    from wblab.study.designs.finding.finding import find, read
    from wblab.study.designs.finding.measure import measured

    directory = find(arguments.name)
    finding = read(directory)
    if arguments.update:
        check_checkout(directory, "--update")
    elif arguments.only:
        raise InputError("--only: give it with --update, which measures figures anew")
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
    if arguments.update and not lost and finding.claims and (not arguments.only or _CLAIMS in arguments.only):
        keep_verdicts(arguments, finding, directory)
    _say(arguments, finding, (before, found), stores)
    if lost:
        raise WblabError(lost)


def _studies(arguments: argparse.Namespace, finding: "Finding") -> "list[tuple[list[Point], int]]":
    """Return the cells of each study to make, and its seeds: one study for all cells with the same number of seeds.

    Raises InputError for a matrix that the finding has no figures from.
    """
    if not arguments.update:
        return [([point for point, _ in finding.tested()], arguments.seeds or _SEEDS)]
    points = [*(point for point, _ in finding.shown()), *(each.point() for each in finding.trace)]
    known = sorted({point.matrix for point in points})
    studies: dict[int, list[Point]] = {}
    for name in arguments.only or known:
        if name == _CLAIMS and finding.claims:
            continue
        if name not in known:
            raise InputError(f"--only {name}: no figure of {arguments.name} is from it: choose {', '.join(known)}")
        seeds = arguments.seeds or finding.seeds.get(name, _KEPT_SEEDS)
        studies.setdefault(seeds, []).extend(point for point in points if point.matrix == name)
    return [(points, seeds) for seeds, points in studies.items()]


def _made(arguments: argparse.Namespace, points: "Sequence[Point]", seeds: int) -> "tuple[Store, str]":
    """Make a study's runs; return it, and what to say if some failed. Raises WblabError."""
    from wblab.commands.many import Planned, begun, failed, named, print_failures
    from wblab.kernels import built_kernels
    from wblab.study.begin import check_kernels, described
    from wblab.study.designs.finding.measure import cells_of, plan
    from wblab.study.run import run_store
    from wblab.study.store import Store

    resolve = built_kernels()
    if arguments.resume:
        store = Store.open(named(arguments, "finding"), "finding")
        check_kernels(store, resolve)
        cells_of(store, points)
        planned = Planned(store.plan, store.kernels, store)
    else:
        made = plan(arguments.name, points, seeds)
        planned = Planned(made, described(made, resolve))
    matrices = (f"--only {name}" for name in dict.fromkeys(point.matrix for point in points))
    again = " ".join([f"wblab finding run {arguments.name}", *(["--update", *matrices] if arguments.update else [])])
    with begun(arguments, resolve, planned, f"{again} --resume") as (store, _):
        tally = run_store(store, None, arguments.jobs)
    if not (count := len(tally.failures)):
        return store, ""
    print_failures(store, failed(tally))
    return store, f"{count} runs failed: try again with {again} --resume {store.path}"


def _say(
    arguments: argparse.Namespace, finding: "Finding", kept_and_found: "tuple[Kept, Kept]", stores: "Sequence[str]"
) -> None:
    """Print which statements hold, beside what is kept, and where the runs are."""
    from wblab.study.designs.finding.judged import judged
    from wblab.study.designs.finding.words import judged_json, judged_words

    before, now = kept_and_found
    found = judged(finding, now)
    known = {one.statement.text: one for one in judged(finding, before)}
    if arguments.json:
        said = {"directories": stores, "statements": judged_json(found, finding)}
        print(json.dumps(said, indent=2))
    else:
        for one in found:
            print_wrapped([f"{'holds' if one.holds else 'DOES NOT HOLD'}: {one.statement.text}"])
            print_wrapped([f"  here: {judged_words(one, finding)}"])
            if was := known.get(one.statement.text):
                same = "; the same to the bit" if was.values[: len(one.values)] == one.values else ""
                print_wrapped([f"  kept: {judged_words(was, finding)}{same}"])
        for store in stores:
            print(printable(store))
    if not all(one.holds for one in found):
        raise WblabError("not every statement holds in every run")


def _keep_excerpt(directory: Path, finding: "Finding", made: "Sequence[Point]", store: "Store") -> None:
    """Keep the excerpt of a trace if its run was made."""
    from wblab.study.cells import run_name
    from wblab.study.designs.finding import excerpt
    from wblab.study.designs.finding.measure import cells_of

    for each in finding.trace:
        if each.point() in made:
            (cell,) = cells_of(store, [each.point()]).values()
            (directory / excerpt.FILE).write_text(excerpt.excerpt(store.runs / run_name(cell, 1), each))
