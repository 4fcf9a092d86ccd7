"""wblab explore."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_exp,
    add_json,
    add_resampling_seed,
    add_resume,
    add_seeds,
    add_workers,
    results,
    whole,
)
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.run import Tally
    from wblab.study.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Explore a space of settings: run a sample of it, and say which settings a response depends on, how much, "
        "which lead into its worst tenth, and what of that is chance."
    )
    parser.add_argument(
        "design",
        nargs="?",
        metavar="DESIGN",
        help="a TOML file, or one of experiments/explorations/; or the directory of an exploration, which is analysed",
    )
    doing = parser.add_mutually_exclusive_group()
    add_resume(doing)
    doing.add_argument("--row", type=whole(0), metavar="N", help="repeat this row of the directory, and compare")
    add_seeds(parser, "run every row with the seeds 1 to N (default: the design's)")
    add_exp(parser, "its directory goes")
    add_workers(parser)
    add_resampling_seed(parser)
    add_json(parser, "print directory, numbers and analysis as JSON")
    parser.set_defaults(run=_explore)


def _explore(arguments: argparse.Namespace) -> None:
    from wblab.commands.many import begun
    from wblab.kernels import built_kernels
    from wblab.study.run import run_store
    from wblab.study.store import Store

    directory = _directory(arguments)
    if arguments.row is not None:
        assert directory
        _repeat(arguments, directory)
        return
    if directory and not arguments.resume:
        _tell(Store.open(directory, "explore"), None, arguments)
        return
    resolve = built_kernels(*arguments.kernel)
    plan = _planned(arguments, resolve, directory)
    with begun(arguments, resolve, plan, "wblab explore --resume") as (store, client):
        tally = run_store(store, client, arguments.jobs)
    _tell(store, tally, arguments)


def _directory(arguments: argparse.Namespace) -> Path | None:
    """Return the directory of an exploration that the arguments name, if they name one. Raises InputError."""
    from wblab.commands.many import named

    if (arguments.design is None) == (arguments.resume is None):
        raise InputError("give a design, or --resume with its directory: see wblab explore --help")
    if arguments.resume:
        if arguments.seeds:
            raise InputError("--seeds: an exploration goes on with the seeds that it was begun with: leave it out")
        return named(arguments, "explore")
    for path in (Path(arguments.design), results(arguments) / arguments.design):
        if path.is_dir():
            return path
    if arguments.row is not None:
        raise InputError(f"--row: {arguments.design!r} is no directory of an exploration: give one")
    return None


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver", directory: Path | None) -> "Planned":
    from wblab.commands.many import Planned
    from wblab.lab.formats import DESIGN
    from wblab.lab.named import DESIGNS
    from wblab.study.begin import check_kernels, described, with_kernel
    from wblab.study.designs.sample.design import read_design
    from wblab.study.designs.sample.plan import planned
    from wblab.study.designs.sample.record import read_record, record_of, written
    from wblab.study.designs.sample.sample import sample
    from wblab.study.store import Store

    if directory:
        read_record(directory)
        store = Store.open(directory, "explore")
        with_kernel(store.plan, arguments.kernel, begun=True)
        check_kernels(store, resolve)
        return Planned(store.plan, store.kernels, store)
    path = DESIGNS.find(arguments.design)
    design = read_design(path, arguments.seeds)
    try:
        points = sample(design.head, len(design.factors))
        matrix = planned(design, points, path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    matrix = with_kernel(matrix, arguments.kernel)
    return Planned(matrix, described(matrix, resolve), beside={DESIGN: written(record_of(design, points))})


def _repeat(arguments: argparse.Namespace, directory: Path) -> None:
    from wblab.commands.rerun import repeat
    from wblab.kernels import built_kernels
    from wblab.study.begin import with_kernel
    from wblab.study.cells import run_name
    from wblab.study.store import Store

    store = Store.open(directory, "explore")
    with_kernel(store.plan, arguments.kernel, begun=True)
    if arguments.row >= len(store.plan.cells):
        raise InputError(f"--row {arguments.row}: {directory} has the rows 0 to {len(store.plan.cells) - 1}")
    run = store.runs / run_name(store.plan.cells[arguments.row], store.plan.seeds[0])
    if not run.is_dir():
        raise InputError(f"--row {arguments.row}: it has not run yet: wblab explore --resume {directory}")
    repeat(run, results(arguments), built_kernels(*arguments.kernel), as_json=arguments.json)


def _tell(store: "Store", tally: "Tally | None", arguments: argparse.Namespace) -> None:
    """Analyse what there is, write the analysis and its page, and print both. tally: what was made now, if anything."""
    from wblab.analysis.sensitivity.analysis import analyse
    from wblab.commands.many import failed, print_failures
    from wblab.core.files import replace_file
    from wblab.lab.formats import ANALYSED, EXPLORED, write_json
    from wblab.plot.explorationpage import exploration_page
    from wblab.report.explorationtext import summary
    from wblab.study.designs.sample.record import observed

    found = observed(store.path, store.plan.cells[0].spec)
    analysis = analyse(found, seed=arguments.resampling_seed)
    page = store.path / EXPLORED
    try:
        write_json(store.path / ANALYSED, analysis.to_json())
        with replace_file(page) as file:
            file.write(exploration_page(analysis, found, store.plan.name).encode())
    except OSError as error:
        raise WblabError(f"cannot write into {store.path}: {error.strerror or error}") from None
    failures, runs = failed(tally) if tally else [], len(store.plan.runs())
    if arguments.json:
        made = tally.done if tally else 0
        about = {"directory": str(store.path), "page": str(page), "runs": runs, "made_now": made, "failures": failures}
        print(json.dumps(about | {"analysis": analysis.to_json()}, indent=2))
    else:
        for item in summary(analysis, found):
            if isinstance(item, Table):
                item.show()
            else:
                print(printable(item))
        print(printable(str(page)))
    if failures:
        print_failures(store, failures)
        raise WblabError(
            f"{len(failures)} of {runs} rows failed: to try them again, wblab explore --resume {store.path}"
        )
