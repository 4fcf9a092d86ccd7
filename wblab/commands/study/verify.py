"""wblab study of the claims of a work: make the runs that they need, and judge each."""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from wblab.commands.common import note, one_kernel, tell
from wblab.core.errors import InputError
from wblab.core.tables import from_table
from wblab.lab.designs import VERIFY
from wblab.report.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.report.report import Picture
    from wblab.study.designs.finding.finding import Finding
    from wblab.study.sources.claim import Claim
    from wblab.study.sources.sample import Sample
    from wblab.study.statement import Verdict
    from wblab.study.store import Store


# Verdicts on some claims of a work on one kernel, for verbs that compare them between kernels.


@dataclass(frozen=True)
class Question:
    """Claims of a work (source), the kernel that they are checked on, and how many seeds each case has."""

    source: str
    claims: "Sequence[Claim]"
    kernel: str
    seeds: int


def verdicts_on(arguments: argparse.Namespace, asked: Question, name: str) -> "Sequence[tuple[Claim, Verdict]]":
    """Make the runs that the claims need, and judge them. name: of the study. Raises WblabError.

    The study is one of claims, which resumes it.
    """
    from wblab.commands.many import Planned, begun
    from wblab.kernels import built_kernels
    from wblab.study.begin import described
    from wblab.study.designs.verify.runs import examine, plan_of, possible

    resolve = built_kernels(asked.kernel, option="--on")
    resolve(asked.kernel)  # a kernel that is not here ends all; a case's own kernel only its claims
    specs, impossible = possible(asked.claims, asked.kernel, resolve)
    about = {
        "source": asked.source,
        "claims": [claim.name for claim in asked.claims],
        "kernel": asked.kernel,
        "format": "png",
        "impossible": impossible,
    }
    plan = plan_of(name[:60].rstrip("-."), specs, asked.seeds, about)
    with begun(arguments, resolve, Planned(plan, described(plan, resolve)), "wblab study --resume") as (store, _):
        return examine(asked.claims, store, arguments.jobs, impossible=impossible).verdicts


def keep_verdicts(arguments: argparse.Namespace, finding: "Finding", directory: Path) -> None:
    """Check the claims of all tables on each of their kernels, and keep what is found after each. Raises WblabError."""
    from wblab.kernels import full_name
    from wblab.study.designs.finding import claimed
    from wblab.study.sources.registry import chosen

    wanted: dict[tuple[str, str, int], list[str]] = {}
    for table in finding.claims.values():
        for kernel in table.kernels:
            wanted.setdefault((table.source, kernel, table.seeds), []).extend(table.rows.values())
    for (source, kernel, seeds), names in wanted.items():
        claims = chosen(list(dict.fromkeys(names)), source)
        asked = Question(source, claims, full_name(kernel), arguments.seeds or seeds)
        verdicts = verdicts_on(arguments, asked, f"{directory.name}-{source}-{kernel}")
        claimed.write(directory, {**claimed.read(directory), **claimed.seen(kernel, verdicts)}, finding.claims.values())


_SEEDS = 5
# Of wblab.study.sources.registry, which takes long to import.
_Source = Literal["thesis", "li", "chadd", "stephens", "chopper"]
_Format = Literal["png", "svg", "pdf"]
_WORKS: tuple[_Source, ...] = get_args(_Source)


def make(arguments: argparse.Namespace) -> None:
    """Check claims, or resume that. A claim that is not reproduced is a finding, not a failure."""
    from wblab.commands.many import begun, check_failures, failed, print_shard
    from wblab.kernels import built_kernels
    from wblab.lab.kernelname import variants_of
    from wblab.study.designs.verify.report import keep, timelines, write_report
    from wblab.study.designs.verify.result import Result
    from wblab.study.designs.verify.runs import examine
    from wblab.study.run import run_store
    from wblab.study.sources.registry import chosen

    resolve = built_kernels(one_kernel(arguments))
    asked, plan = _asked(arguments, resolve)
    claims, started_s = chosen(list(asked.claims), asked.source), time.monotonic()
    for reason in asked.impossible.values():
        note(f"not testable: {reason}")

    with begun(arguments, resolve, plan) as (store, _):
        if store.plan.shard:  # all parts together are judged
            failures = failed(run_store(store, None, arguments.jobs))
            print_shard(store, failures, as_json=arguments.json)
            return

        def draw(case: str, sample: "Sample") -> "list[Picture]":
            return [keep(drawn, store.path, asked.format) for drawn in timelines(case, sample)]

        found = examine(claims, store, arguments.jobs, draw, asked.impossible)
        wall_s = time.monotonic() - started_s
        kernel = dict(store.kernels[asked.kernel])
        seeds, variants = len(store.plan.seeds), variants_of(asked.kernel)
        result = Result(kernel, seeds, wall_s, found.verdicts, found.samples, asked.source, variants)
        told, page = write_report(result, store.path, asked.format, found.shown)
    tell(told, page, as_json=arguments.json, report=str(page))
    if found.tally:
        check_failures(store, failed(found.tally))


@dataclass(frozen=True)
class _Asked:
    """The question of a verification: the work, its claims, the kernel, and the format of the figures.

    impossible: why cases cannot run here, by case.
    """

    source: _Source
    claims: tuple[str, ...]
    kernel: str
    format: _Format
    impossible: dict[str, str] = field(default_factory=dict)


def _asked(arguments: argparse.Namespace, resolve: "KernelResolver") -> "tuple[_Asked, Planned]":
    """Return what to verify, and the runs for it. Raises InputError."""
    from wblab.commands.many import Planned
    from wblab.kernels import full_name
    from wblab.study.begin import described, with_part
    from wblab.study.designs.verify.runs import plan_of, possible
    from wblab.study.sources.registry import chosen

    if arguments.resume:
        planned = Planned.again(arguments, VERIFY, resolve, _known)
        assert planned.store
        return _known(planned.store), planned
    source = _source(arguments)
    name = full_name(one_kernel(arguments))
    claims = chosen(arguments.parts, source)
    kernel = resolve(name)
    specs, impossible = possible(claims, name, resolve)
    asked = _Asked(source, tuple(claim.name for claim in claims), name, "png", impossible)
    prefix = VERIFY if source == _WORKS[0] else f"{VERIFY}-{source}"
    plan = plan_of(f"{prefix}-{kernel.series}", specs, arguments.seeds or _SEEDS, asdict(asked))
    plan = with_part(plan, "traces", arguments.shard)
    kernels = {name: kernel.describe(), **described(plan, resolve)}
    return asked, Planned(plan, kernels, directory=arguments.output)


def _known(store: "Store") -> _Asked:
    """Return what a study was asked. Its directory may be a stranger's. Raises InputError."""
    from wblab.study.designs.verify.runs import check_plan
    from wblab.study.sources.registry import chosen

    asked = from_table(_Asked, dict(store.plan.about), "about")
    if asked.kernel not in store.kernels:
        raise InputError(f"{store.path} does not record the build of {asked.kernel!r}: its study.json is damaged")
    check_plan(store.plan, chosen(list(asked.claims), asked.source), asked.impossible)
    return asked


def _source(arguments: argparse.Namespace) -> _Source:
    """Return the work: the one that was named, or that of the claims."""
    from wblab.study.sources.registry import work_of

    return cast("_Source", arguments.what if arguments.what else work_of(arguments.parts, _WORKS[0]))


def names() -> "Iterator[tuple[str, str]]":
    """Yield the name and what it is of those that come with the lab."""
    from wblab.study.sources.registry import WORKS

    yield from ((name, "the claims of a work") for name in WORKS)


def print_parts(arguments: argparse.Namespace) -> None:
    """Print the claims of a work, or those that were named."""
    from wblab.study.sources.registry import chosen

    claims = chosen(arguments.parts, _source(arguments))
    if arguments.json:
        fields = ("name", "says", "source")
        print(json.dumps([{name: getattr(claim, name) for name in fields} for claim in claims], indent=2))
    else:
        Listing([(claim.name, f"{claim.says} ({claim.source})") for claim in claims]).show()
