"""wblab study --on: the same spec on other kernels and processors, unpatched ones among them.

It compares whether a load is stalled, not for how many milliseconds. A run by the host's clock whose control load is
stalled does not count, and is repeated twice at most.
"""

import argparse
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wblab.commands.common import tell
from wblab.lab.designs import WITNESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.designs.witness.report import Witnessed
    from wblab.study.run import Tally
    from wblab.study.store import Store

SEEDS = 3
_ON = ("", "stock:{series}", "stock:{series}@2", "stock:{series}@4", "stock:{series}@8")


@dataclass(frozen=True)
class _Study:
    """A study that was made: what it found, and the runs that failed without being spoiled by the machine."""

    store: "Store"
    found: "Witnessed"
    failures: "Tally"

    def check(self) -> None:
        """Raise WblabError if runs failed, and print why."""
        from wblab.commands.many import check_failures, failed

        check_failures(self.store, failed(self.failures), self.found.again)


def make(arguments: argparse.Namespace) -> None:
    """Run a spec on several places, or resume that; a finding or a claim is tested on each."""
    from wblab.commands.study.witnessed import finding_or_claim
    from wblab.study.designs.witness.report import report

    if not arguments.resume and finding_or_claim(arguments, _default_on(), _checked):
        return
    study = _made(arguments)
    tell(report(study.found), study.store.path, as_json=arguments.json)
    study.check()


def _checked(arguments: argparse.Namespace) -> dict[str, Any]:
    study = _made(arguments)
    study.check()
    return study.found.to_json()


def _made(arguments: argparse.Namespace) -> _Study:
    """Make the study of a spec. Raises WblabError."""
    from wblab.commands.many import begun
    from wblab.kernels import built_kernels
    from wblab.study.designs.witness.report import witnessed
    from wblab.study.designs.witness.result import without_spoiled
    from wblab.study.designs.witness.substrates import substrate
    from wblab.study.run import run_store

    resolve = built_kernels(*(substrate(name).kernel for name in arguments.on), option="--on")
    again = _again(arguments.on)
    with begun(arguments, resolve, _planned(arguments, resolve), again) as (store, _):
        tally = run_store(store, None, arguments.jobs)
    found = witnessed(store, resolve, again)
    return _Study(store, found, without_spoiled(tally, found.noisy))


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
    from wblab.commands.many import Planned
    from wblab.lab.results import SPECS
    from wblab.lab.specfile import read_spec
    from wblab.study.begin import described
    from wblab.study.designs.witness.result import BOUND_NS
    from wblab.study.designs.witness.substrates import cells, substrate
    from wblab.study.plan import Plan

    if arguments.resume:
        return Planned.again(arguments, WITNESS, resolve)
    spec = read_spec(SPECS.find(arguments.what), arguments.settings)
    names = arguments.on or _default_on()
    plan = Plan(
        spec.name,
        tuple(range(1, (arguments.seeds or SEEDS) + 1)),
        cells(spec, [substrate(name) for name in names], resolve),
        control_bound_ns=BOUND_NS,
        design=WITNESS,
    )
    return Planned(plan, described(plan, resolve))
