"""wblab explore: find out which settings a response depends on."""

import argparse
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_exp,
    add_json,
    add_keep,
    add_resampling_seed,
    add_resume,
    add_seeds,
    add_shard,
    add_workers,
    print_wrapped,
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
        "Explore a space of settings. Run a sample of it, and report which settings a response depends on, how "
        "strongly, which lead to its worst tenth, and what may be chance."
    )
    parser.add_argument(
        "design",
        nargs="?",
        metavar="DESIGN",
        help="a TOML file, or one of experiments/explorations/; the directory of an exploration is analysed again",
    )
    doing = parser.add_mutually_exclusive_group()
    add_resume(doing)
    doing.add_argument("--row", type=whole(0), metavar="N", help="repeat this row of an exploration, and compare")
    add_seeds(parser, "run every row with the seeds 1 to N (default: the design's)")
    add_exp(parser, "the study's directory goes")
    add_workers(parser)
    add_keep(parser)
    add_shard(parser)
    add_resampling_seed(parser)
    parser.add_argument(
        "--evidence", action="store_true", help="print every share with its interval, and all levels of the worst tenth"
    )
    add_json(parser, "print the directory, the numbers of runs and the analysis as JSON")
    parser.set_defaults(run=_explore)


def _explore(arguments: argparse.Namespace) -> None:
    from wblab.commands.many import begun, failed, print_shard
    from wblab.kernels import built_kernels
    from wblab.study.run import run_store
    from wblab.study.store import Store

    directory = _directory(arguments)
    if arguments.row is not None:
        assert directory
        _repeat(arguments, directory)
        return
    if directory and not arguments.resume:
        _report(Store.open(directory, "explore"), None, arguments)
        return
    resolve = built_kernels(*arguments.kernel)
    plan = _planned(arguments, resolve, directory)
    with begun(arguments, resolve, plan, "wblab explore --resume") as (store, client):
        tally = run_store(store, client, arguments.jobs)
    if store.plan.shard:
        print_shard(store, failed(tally), "wblab explore --resume", as_json=arguments.json)
        return
    _report(store, tally, arguments)


def _directory(arguments: argparse.Namespace) -> Path | None:
    """Return the exploration's directory if the arguments name one. Raises InputError."""
    from wblab.commands.many import named

    if (arguments.design is None) == (arguments.resume is None):
        raise InputError("give either a design, or --resume DIR: see wblab explore --help")
    if arguments.resume:
        if arguments.seeds or arguments.keep or arguments.shard:
            raise InputError("--resume keeps the plan of the first call: leave out --seeds, --keep and --shard")
        return named(arguments, "explore")
    for path in (Path(arguments.design), results(arguments) / arguments.design):
        if path.is_dir():
            return path
    if arguments.row is not None:
        raise InputError(f"--row: {arguments.design!r} is not the directory of an exploration: give one")
    return None


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver", directory: Path | None) -> "Planned":
    from wblab.commands.many import Planned
    from wblab.lab.formats import DESIGN
    from wblab.lab.named import DESIGNS
    from wblab.study.begin import check_kernels, described, with_kernel, with_part
    from wblab.study.designs.sample.design import read_design
    from wblab.study.designs.sample.plan import planned
    from wblab.study.designs.sample.record import encode, read_record, record_of
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
        plan = planned(design, points, path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    plan = with_part(with_kernel(plan, arguments.kernel), arguments.keep, arguments.shard)
    return Planned(plan, described(plan, resolve), beside={DESIGN: encode(record_of(design, points))})


def _repeat(arguments: argparse.Namespace, directory: Path) -> None:
    from wblab.commands.rerun import repeat, repeat_row
    from wblab.kernels import built_kernels
    from wblab.study.begin import with_kernel
    from wblab.study.cells import run_name
    from wblab.study.rowat import RowAt
    from wblab.study.store import Store

    store = Store.open(directory, "explore")
    with_kernel(store.plan, arguments.kernel, begun=True)
    if arguments.row >= len(store.plan.cells):
        raise InputError(f"--row {arguments.row}: {directory} has only the rows 0 to {len(store.plan.cells) - 1}")
    cell, seed, resolve = store.plan.cells[arguments.row], store.plan.seeds[0], built_kernels(*arguments.kernel)
    if run_name(cell, seed) in store.rows.names():
        repeat_row(RowAt(store, cell, seed), results(arguments), resolve, as_json=arguments.json)
        return
    run = store.runs / run_name(cell, seed)
    if not run.is_dir():
        raise InputError(f"--row {arguments.row} has not run yet: run it with wblab explore --resume {directory}")
    repeat(run, results(arguments), resolve, as_json=arguments.json)


def _report(store: "Store", tally: "Tally | None", arguments: argparse.Namespace) -> None:
    """Analyse all finished runs, write the analysis and its page, and print a summary. tally: of the runs made now."""
    from wblab.analysis.sensitivity.analysis import analyse
    from wblab.commands.many import failed, print_failures
    from wblab.lab.formats import ANALYSED, EXPLORED, write_json
    from wblab.lab.held import replace_file
    from wblab.lab.progress import bar
    from wblab.plot.explorationpage import exploration_page
    from wblab.report.explorationanswer import answers
    from wblab.report.explorationtext import summary
    from wblab.study.designs.sample.record import observed

    found = observed(store.path, store.plan.cells[0].spec)
    with bar(f"analysing {store.plan.name}") as report:
        analysis = analyse(found, seed=arguments.resampling_seed, report=report)
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
    elif arguments.evidence:
        for item in summary(analysis, found):
            if isinstance(item, Table):
                item.show()
            else:
                print_wrapped([item])
        print(printable(str(page)))
    else:
        again = f"    wblab explore {shlex.quote(str(store.path))} --evidence    # every share with its interval"
        print_wrapped((*answers(analysis, found), again, str(page)))
    if failures:
        print_failures(store, failures)
        raise WblabError(f"{len(failures)} of {runs} runs failed: try again with wblab explore --resume {store.path}")
