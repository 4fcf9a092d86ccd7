"""Verdicts on some claims of a work on one kernel, for verbs that compare them between kernels."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wblab.study.designs.finding.finding import Finding
    from wblab.study.sources.claim import Claim, Verdict


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
    from wblab.study.designs.cases.runs import examine, plan_of, possible

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
