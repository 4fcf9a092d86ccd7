"""wblab finding run."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_jobs, add_json, add_resume, add_seeds, print_wrapped
from wblab.core.errors import WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from wblab.study.designs.finding.finding import Finding
    from wblab.study.designs.finding.kept import Kept
    from wblab.study.store import Store

_SEEDS, _KEPT_SEEDS = 3, 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Repeat the runs that a finding's statements are about, and say which still hold. In virtual time a run on the "
        "same kernel is the same to the bit, so a difference shows another kernel, lab or machine. Exit code 1 if a "
        "statement does not hold."
    )
    parser.add_argument("name", metavar="NAME", help="a finding: see wblab finding list")
    add_seeds(parser, f"runs of each case (default: {_SEEDS}; with --update {_KEPT_SEEDS})")
    parser.add_argument(
        "--update",
        action="store_true",
        help="make the runs of all figures, also of those in tables, and keep what they say in the checkout",
    )
    add_jobs(parser)
    add_resume(parser)
    add_exp(parser, "the study's directory goes")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from wblab.commands.many import Planned, begun, failed, named, print_failures
    from wblab.kernels import built_kernels
    from wblab.lab.places import check_checkout
    from wblab.study.begin import check_kernels, described
    from wblab.study.designs.finding import kept
    from wblab.study.designs.finding.finding import find, read
    from wblab.study.designs.finding.measure import cells_of, measured, plan
    from wblab.study.run import run_store
    from wblab.study.store import Store

    directory = find(arguments.name)
    finding = read(directory)
    if arguments.update:
        check_checkout(directory, "--update")
    points = [point for point, _ in (finding.shown() if arguments.update else finding.tested())]
    points += [each.point() for each in finding.trace if arguments.update]
    resolve = built_kernels()
    if arguments.resume:
        store = Store.open(named(arguments, "finding"), "finding")
        check_kernels(store, resolve)
        cells_of(store, points)
        planned = Planned(store.plan, store.kernels, store)
    else:
        seeds = arguments.seeds or (_KEPT_SEEDS if arguments.update else _SEEDS)
        made = plan(arguments.name, points, seeds)
        planned = Planned(made, described(made, resolve))
    again = f"wblab finding run {arguments.name} --resume"
    with begun(arguments, resolve, planned, again) as (store, _):
        tally = run_store(store, None, arguments.jobs)
    now = dict(measured(store, points))
    before = kept.read(directory)
    if arguments.update and not tally.failures:
        _keep(directory, finding, now, store)
    if tally.failures:
        print_failures(store, failed(tally))
    _say(arguments, finding, before, now, store)
    if tally.failures:
        raise WblabError(f"{len(tally.failures)} runs failed: try again with {again} {store.path}")


def _say(arguments: argparse.Namespace, finding: "Finding", before: "Kept", now: "Kept", store: "Store") -> None:
    """Print which statements hold, beside what is kept."""
    from wblab.study.designs.finding.judged import judged
    from wblab.study.designs.finding.words import judged_json, judged_words

    found = judged(finding, now)
    known = {one.statement.text: one for one in judged(finding, before)}
    if arguments.json:
        said = {"directory": str(store.path), "statements": judged_json(found, finding)}
        print(json.dumps(said, indent=2))
    else:
        for one in found:
            print_wrapped([f"{'holds' if one.holds else 'DOES NOT HOLD'}: {one.statement.text}"])
            print_wrapped([f"  here: {judged_words(one, finding)}"])
            if was := known.get(one.statement.text):
                same = "; the same to the bit" if was.values[: len(one.values)] == one.values else ""
                print_wrapped([f"  kept: {judged_words(was, finding)}{same}"])
        print(printable(str(store.path)))
    if not all(one.holds for one in found):
        raise WblabError("not every statement holds in every run")


def _keep(directory: Path, finding: "Finding", now: "Kept", store: "Store") -> None:
    """Keep the values of all figures, and the excerpt of a trace."""
    from wblab.study.cells import run_name
    from wblab.study.designs.finding import excerpt, kept
    from wblab.study.designs.finding.measure import cells_of

    kept.write(directory, now, finding.shown())
    for each in finding.trace:
        (cell,) = cells_of(store, [each.point()]).values()
        run = store.runs / run_name(cell, 1)
        (directory / excerpt.FILE).write_text(excerpt.excerpt(run, each))
