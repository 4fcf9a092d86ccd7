"""wblab study --on: the same spec on other kernels and processors, unpatched ones among them.

It compares whether a load is stalled, not for how many milliseconds. A run by the host's clock whose control load is
stalled does not count, and is repeated twice at most.
"""

import argparse
import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wblab.commands.common import print_wrapped
from wblab.core.errors import WblabError
from wblab.lab.designs import WITNESS
from wblab.lab.printable import printable
from wblab.lab.tables import Table
from wblab.report.quantities import quantity, spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wblab.analysis.runs.run import Run
    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.designs.witness.figure import Figure
    from wblab.study.designs.witness.result import Witness
    from wblab.study.designs.witness.spoiled import Spoiled
    from wblab.study.designs.witness.substrates import Substrate
    from wblab.study.run import Tally
    from wblab.study.store import Store

_SEEDS = 3
_ON = ("", "stock:{series}", "stock:{series}@2", "stock:{series}@4", "stock:{series}@8")


@dataclass(frozen=True)
class _Study:
    """A study that was made: what it says, what the machine spoiled, and the other runs that failed.

    first: the first run on each substrate that has one. again: the command that resumes it.
    """

    store: "Store"
    found: "Witness"
    noisy: "Sequence[Spoiled]"
    on: "Sequence[Substrate]"
    failures: "Tally"
    first: "Mapping[str, Run]"
    again: str

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        from wblab.study.designs.witness.here import machine_of

        shown: dict[str, Any] = {"spoiled": [each.to_json() for each in self.noisy]}
        if machines := {name: machine for name, run in self.first.items() if (machine := machine_of(run))}:
            shown["machine"] = machines
        return {"directory": str(self.store.path)} | self.found.to_json() | shown

    def check(self) -> None:
        """Raise WblabError if runs failed, and print why."""
        from wblab.commands.many import failed, print_failures

        if count := len(self.failures.failures):
            print_failures(self.store, failed(self.failures))
            what = "1 run" if count == 1 else f"{count} runs"
            raise WblabError(f"{what} failed: try again with {self.again} {self.store.path}")


def make(arguments: argparse.Namespace) -> None:
    """Run a spec on several places, or resume that; a finding or a claim is tested on each."""
    from wblab.commands.study.witnessed import finding_or_claim

    if not arguments.resume and finding_or_claim(arguments, _default_on(), _checked):
        return
    study = _made(arguments)
    if arguments.json:
        print(json.dumps(study.to_json(), indent=2))
    else:
        _show(study)
    study.check()


def _checked(arguments: argparse.Namespace) -> dict[str, Any]:
    study = _made(arguments)
    study.check()
    return study.to_json()


def _made(arguments: argparse.Namespace) -> _Study:
    """Make the study of a spec. Raises WblabError."""
    from wblab.analysis.runs.run import read_run
    from wblab.commands.many import begun
    from wblab.kernels import built_kernels
    from wblab.study.cells import run_name
    from wblab.study.designs.witness.result import witness
    from wblab.study.designs.witness.spoiled import spoiled, without_spoiled
    from wblab.study.designs.witness.substrates import AXIS, substrate
    from wblab.study.run import run_store

    resolve = built_kernels(*(substrate(name).kernel for name in arguments.on), option="--on")
    again = _again(arguments.on)
    with begun(arguments, resolve, _planned(arguments, resolve), again) as (store, _):
        tally = run_store(store, None, arguments.jobs)
    missing = {run_name(cell, seed) for cell, seed in store.missing()}
    runs = {
        str(cell.levels[AXIS]): [
            read_run(store.runs / name) for seed in store.plan.seeds if (name := run_name(cell, seed)) not in missing
        ]
        for cell in store.plan.cells
    }
    noisy = spoiled(store)
    on = [substrate(name).settled(resolve) for name in runs]
    first = {name: of[0] for name, of in runs.items() if of}
    return _Study(store, witness(runs), noisy, on, without_spoiled(tally, noisy), first, again)


def _again(on: "Sequence[str]") -> str:
    """Return the command that resumes a study, without its directory: directories of this machine are named again."""
    from wblab.kernels.here import is_here

    named = [word for name in on if is_here(name) for word in ("--on", name)]
    return shlex.join(["wblab", "study", *named, "--resume"])


def _default_on() -> list[str]:
    from wblab.kernels import catalog

    series = catalog.load().default
    return [name.format(series=series) or series for name in _ON]


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    from wblab.commands.many import Planned, named
    from wblab.lab.named import SPECS
    from wblab.lab.specfile import read_spec
    from wblab.study.begin import check_kernels, described
    from wblab.study.designs.witness.spoiled import BOUND_NS
    from wblab.study.designs.witness.substrates import cells, substrate
    from wblab.study.plan import Plan
    from wblab.study.store import Store

    if arguments.resume:
        store = Store.open(named(arguments, WITNESS), WITNESS)
        check_kernels(store, resolve)
        return Planned(store.plan, store.kernels, store)
    spec = read_spec(SPECS.find(arguments.what), arguments.settings)
    names = arguments.on or _default_on()
    plan = Plan(
        spec.name,
        tuple(range(1, (arguments.seeds or _SEEDS) + 1)),
        cells(spec, [substrate(name) for name in names], resolve),
        control_bound_ns=BOUND_NS,
        design=WITNESS,
    )
    return Planned(plan, described(plan, resolve))


def _show(study: _Study) -> None:
    """Print the answer: what agrees, the figures, what each substrate is, its noise, and what was spoiled by it."""
    from wblab.study.designs.witness.here import titles

    found, path = study.found, str(study.store.path)
    named = titles(found.substrates)
    print_wrapped([*_answer(found), ""])
    rows = [(row.load, *map(_figure, row.figures), row.agreement) for row in found.rows]
    rows.append(("(control load)", *(quantity(max(each), "s") if each else "-" for each in found.noise_s), ""))
    Table(rows, ("longest pause of", *(named[name] for name in found.substrates), "")).show()
    print_wrapped(["", *(line for each in study.on for line in _substrate(each, named[each.name], study.first)), ""])
    if study.noisy:
        print_wrapped([*_lost(study.noisy, f"{study.again} {path}"), ""])
    print(printable(path))


def _substrate(on: "Substrate", name: str, first: "Mapping[str, Run]") -> "Sequence[str]":
    """Return what a substrate is, and how this machine differs from the spec, if it is that."""
    from wblab.study.designs.witness.here import differences, machine_of

    run = first.get(on.name)
    more = differences(on.name, run) if run and machine_of(run) else ()
    return [f"{name}: {on.words}", *(f"  {line}" for line in more)]


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


def _lost(noisy: "Sequence[Spoiled]", again: str) -> "Sequence[str]":
    """Return what was spoiled, a line for each seed of a substrate, and what to do about what stays so."""
    lines = ["Spoiled, as the machine stalled the control load itself for over 0.3 s:"]
    for each in noisy:
        stalls = ", ".join(quantity(stall_s, "s") for stall_s in each.stalls_s)
        lines.append(
            f"{each.substrate}, seed {each.seed}: {stalls}; {'repeated' if each.is_replaced else 'not counted'}"
        )
    if not all(each.is_replaced for each in noisy):
        lines.append(f"Repeat what is not counted when the machine is less busy: {again}")
    return lines


def _figure(figure: "Figure | None") -> str:
    if figure is None:
        return "-"
    return spread(figure.values_s, "s")
