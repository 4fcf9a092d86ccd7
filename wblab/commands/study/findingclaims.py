"""The verdicts on claims that a finding shows: made on each kernel, and kept."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wblab.study.designs.finding.finding import Finding


def keep_verdicts(arguments: argparse.Namespace, finding: "Finding", directory: Path) -> None:
    """Check the claims of all tables on each of their kernels, and keep what is found after each. Raises WblabError."""
    from wblab.commands.study.claims import Question, verdicts_on
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
