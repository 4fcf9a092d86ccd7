"""What a bundle is, in lines that fit a terminal."""

from collections.abc import Iterator
from typing import Any

from wblab.analysis.runs.run import SUCCEEDED, Run
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S
from wblab.lab.callings import introduced
from wblab.lab.changes import changes
from wblab.publish.bundle.about import PackedRun
from wblab.publish.bundle.read import Opened
from wblab.report.listing import Listing
from wblab.report.quantities import duration, size
from wblab.study.made import Made

SHOWN = 20  # runs of a study


def head(found: Opened) -> Iterator[str]:
    """Yield the first lines: the file, and its runs."""
    yield f"{found.file}: {'the run' if found.kind == 'run' else 'the study'} {found.name}, {size(found.size)}"
    if found.rows:
        design = found.about["study"]["design"]
        yield f"study   {design}: a row of each of {found.rows:,} runs, in place of the runs"
        yield f"digest  {found.about['digest']}  (of all runs)"
    elif found.kind == "study":
        study: dict[str, Any] = found.about["study"]
        counts = {"cell": len(study["cells"]), "seed": len(study["seeds"]), "run": len(found.runs)}
        what = ", ".join(f"{count} {name}{'s' if count != 1 else ''}" for name, count in counts.items())
        failed = sum(item.values["outcome"] != "succeeded" for item in found.runs.values())
        yield f"study   {study['design']}: {what}" + (f", {failed} of them failed" if failed else "")
        yield f"digest  {found.about['digest']}  (of all runs)"


def run_lines(item: PackedRun, run: Run | None) -> Iterator[str]:
    """Yield what a run is, and what it measured in one sentence."""
    values, kernel = item.values, item.values["kernel"]
    spec = item.spec
    if isinstance(spec, Spec):
        yield f"spec    {', '.join([spec.name, f'seed {spec.seed}', *changes(spec)])}"
    yield f"kernel  Linux {kernel.get('release')}, build {str(kernel.get('build_id'))[:12]}: {kernel.get('source')}"
    yield f"digest  {values['digest'] or 'none'}"
    if values["outcome"] != "succeeded":
        yield f"outcome {values['outcome']}: {run.failure if run else 'nothing was measured'}"
    yield ""
    yield introduced(values["headline"], {row["load"]: row["kind"] for row in values["pauses"]})


def runs_table(found: Opened) -> tuple[Listing, int]:
    """Return a table of a study's runs, and how many did not fit in."""
    rows = [
        (name, _longest(item), item.values["digest"][:12] or "-", str(item.values["outcome"]))
        for name, item in list(found.runs.items())[:SHOWN]
    ]
    rows += [
        (
            name,
            "-" if made.row.longest_s is None else duration(NS_PER_S * made.row.longest_s),
            made.digest[:12],
            SUCCEEDED,
        )
        for name, made in list(found.made.items())[: SHOWN - len(rows)]
    ]
    heads = ("run", "longest pause", "digest", "outcome")
    return Listing(rows, heads, frozenset({1}), spare=(2,)), len(found.runs) + found.rows - len(rows)


def _longest(item: PackedRun) -> str:
    longest = [row["longest_pause_ns"] for row in item.values["pauses"] if row["role"] == "innocent"]
    return duration(max(longest)) if longest else "-"


def chosen(found: Opened, text: str | None) -> tuple[str, PackedRun | Made]:
    """Return the run of a name or of CELL/SEED; by default the first that measured something. Raises InputError."""
    runs: dict[str, PackedRun | Made] = {**found.made, **found.runs}
    if text is None:
        return next(
            ((name, item) for name, item in runs.items() if isinstance(item, Made) or item.is_measured),
            next(iter(runs.items())),
        )
    cell, slash, seed = text.rpartition("/")
    name = f"{cell}-s{seed}" if slash else text
    if name not in runs:
        few = ", ".join([*list(runs)[:SHOWN], *(["…"] if len(runs) > SHOWN else [])])
        raise InputError(f"{str(found.file)!r} has no run {text!r}: it has {few}")
    return name, runs[name]


def reworded(found: Opened) -> list[str]:
    """Return a line for each run whose measurements the file words otherwise than its own files say."""
    return [f"the file words what {each} measured differently; here is what its files say" for each in found.reworded]
