"""wblab witness: the same spec on other kernels and processors, unpatched ones among them."""

import argparse
import json
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_jobs, add_json, add_resume, add_seeds, add_settings, print_wrapped
from wblab.core.errors import InputError, WblabError
from wblab.lab.printable import printable
from wblab.lab.tables import Table
from wblab.report.quantities import interval, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.designs.witness.result import Figure, Witness
    from wblab.study.designs.witness.substrates import Substrate

_SEEDS = 3
_ON = ("", "stock:{series}", "stock:{series}@2", "stock:{series}@4", "stock:{series}@8")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Run a spec in User Mode Linux and on a distribution's own kernel in QEMU, with one processor and several, and "
        "say which loads are stalled where. It compares whether a load is stalled, not for how many milliseconds."
    )
    parser.add_argument(
        "spec", nargs="?", metavar="SPEC", help="a TOML file, a preset of experiments/, or an experiment.json"
    )
    parser.add_argument(
        "--on",
        action="append",
        default=[],
        metavar="KERNEL",
        help="where: 7.2, stock:7.2 (a distribution's), stock:7.2@4 (with four processors), each with /real for the "
        "host's clock; repeatable (default: the default kernel, and the stock one with 1, 2, 4 and 8 processors)",
    )
    add_settings(parser)
    add_seeds(parser, "runs on each", _SEEDS)
    add_jobs(parser)
    add_resume(parser)
    add_exp(parser, "the study's directory goes")
    add_json(parser)
    parser.set_defaults(run=_witness)


def _witness(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import read_run
    from wblab.commands.many import begun, failed, print_failures
    from wblab.kernels import built_kernels
    from wblab.study.cells import run_name
    from wblab.study.designs.witness.result import witness
    from wblab.study.designs.witness.substrates import AXIS, substrate
    from wblab.study.run import run_store

    resolve = built_kernels(*(substrate(name).kernel for name in arguments.on), option="--on")
    with begun(arguments, resolve, _planned(arguments, resolve), "wblab witness --resume") as (store, _):
        tally = run_store(store, None, arguments.jobs)
    missing = {run_name(cell, seed) for cell, seed in store.missing()}
    runs = {
        str(cell.levels[AXIS]): [
            read_run(store.runs / name) for seed in store.plan.seeds if (name := run_name(cell, seed)) not in missing
        ]
        for cell in store.plan.cells
    }
    found = witness(runs)
    if arguments.json:
        print(json.dumps({"directory": str(store.path)} | found.to_json(), indent=2))
    else:
        _show(found, [substrate(name) for name in runs], str(store.path))
    if tally.failures:
        print_failures(store, failed(tally))
        raise WblabError(f"{len(tally.failures)} runs failed: try again with wblab witness --resume {store.path}")


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    from wblab.commands.many import Planned, named
    from wblab.kernels import catalog
    from wblab.lab.named import SPECS
    from wblab.lab.specfile import read_spec
    from wblab.study.begin import check_kernels, described
    from wblab.study.designs.witness.substrates import cells, substrate
    from wblab.study.plan import Plan
    from wblab.study.store import Store

    if (arguments.spec is None) == (arguments.resume is None):
        raise InputError("give either a spec, or --resume DIR: see wblab witness --help")
    if arguments.resume:
        store = Store.open(named(arguments, "witness"), "witness")
        check_kernels(store, resolve)
        return Planned(store.plan, store.kernels, store)
    spec = read_spec(SPECS.find(arguments.spec), arguments.settings)
    series = catalog.load().default
    names = arguments.on or [name.format(series=series) or series for name in _ON]
    on = [substrate(name) for name in names]
    if len({(each.kernel, each.real) for each in on}) < len(on):
        raise InputError("--on: a kernel is given twice: its runs would be identical")
    plan = Plan(
        spec.name,
        tuple(range(1, arguments.seeds + 1)),
        cells(spec, on),
        design="witness",
    )
    return Planned(plan, described(plan, resolve))


def _show(found: "Witness", on: "Sequence[Substrate]", path: str) -> None:
    """Print the answer: what agrees, the figures, what each substrate is, and its noise."""
    print_wrapped([*_answer(found), ""])
    rows = [(row.load, *map(_figure, row.figures), row.agreement) for row in found.rows]
    rows.append(("(control load)", *(quantity(max(each), "s") if each else "-" for each in found.noise_s), ""))
    Table(rows, ("longest pause of", *found.substrates, "")).show()
    print_wrapped(["", *(f"{each.name}: {each.words}" for each in on), ""])
    print(printable(path))


def _answer(found: "Witness") -> "Sequence[str]":
    said = []
    for agreement, words in (
        ("agree", "All agree on"),
        ("differ", "They differ on"),
        ("not decided", "Not decided by these seeds:"),
    ):
        if loads := [row for row in found.rows if row.agreement == agreement]:
            names = ", ".join(
                f"{row.load} ({next(figure.word for figure in row.figures if figure)})"
                if agreement == "agree"
                else row.load
                for row in loads
            )
            said.append(f"{words} {names}.")
    return said or ["No load can be compared."]


def _figure(figure: "Figure | None") -> str:
    if figure is None:
        return "-"
    return interval(figure.median_s, min(figure.values_s), max(figure.values_s), "s")
