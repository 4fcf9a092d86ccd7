"""What a comparison of kernels found, from the directory of its runs."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from wblab import __version__
from wblab.kernels import KernelResolver
from wblab.study.cells import Cell
from wblab.study.designs.ab.changedpauses import ChangedPause, changed_pauses
from wblab.study.designs.ab.figures import ComparedFigure, ComparedFigures
from wblab.study.designs.ab.made import RepeatedRuns, measured, repeat
from wblab.study.designs.ab.plan import AskedKernels, asked_of, digests, pairs
from wblab.study.store import Store


@dataclass(frozen=True)
class KernelsResult:
    """Everything that the report says.

    kernels: the description of each state's kernel. specs: their digests. seeds: the fewest and the most of a pair.
    is_virtual: whether runs were made in virtual time. missing: runs that failed.
    """

    asked: AskedKernels
    kernels: tuple[Mapping[str, Any], ...]
    specs: dict[str, str]
    figures: ComparedFigures
    pauses: tuple[ChangedPause, ...]
    repeated: RepeatedRuns
    seeds: tuple[int, int]
    is_virtual: bool
    missing: int

    def of(self, number: int) -> tuple[ComparedFigures, list[ChangedPause]]:
        """Return the figures and the pauses of one step."""
        return self.figures.of(number), [item for item in self.pauses if item.pair.number == number]


def result(store: Store, resolve: KernelResolver | None, missing: int = 0) -> KernelsResult:
    """Return what a study of finished runs found. missing: the number of failed runs. Raises WblabError.

    resolve: finds the kernels with which runs are repeated; None: none is.
    """
    asked = asked_of(store.plan)
    compared = pairs(store.plan, asked)
    found = measured(store, compared)
    ends = [cell for pair in compared[:1] + compared[-1:] for cell in (pair.before, pair.after)]
    first: dict[str, Cell] = {}
    for cell in ends:
        first.setdefault(cell.spec.kernel.build, cell)
    counts = [row.seeds for row in found.rows]
    return KernelsResult(
        asked=asked,
        kernels=tuple(store.kernels[state.kernel] for state in asked.states),
        specs=digests(store.plan),
        figures=found,
        pauses=tuple(changed_pauses(found.rows, store.runs, store.plan.seeds)),
        repeated=repeat(store, list(first.values()), resolve) if resolve else RepeatedRuns((), ()),
        seeds=(min(counts, default=0), max(counts, default=0)),
        is_virtual=any(cell.spec.clock.mode == "virtual" for cell in first.values()),
        missing=missing,
    )


def to_json(found: KernelsResult) -> dict[str, Any]:
    """Return everything as a JSON object."""
    return {
        "wblab": __version__,
        "command": found.asked.command,
        "specs": found.specs,
        "states": [
            asdict(state) | {key: kernel.get(key) for key in ("release", "source", "build_id", "compiler")}
            for state, kernel in zip(found.asked.states, found.kernels, strict=True)
        ],
        "steps": [asdict(step) | {"same_program": found.asked.same_program(step)} for step in found.asked.steps],
        "seeds": {"fewest": found.seeds[0], "most": found.seeds[1]},
        "confidence": found.figures.whole.confidence if found.figures.whole else None,
        "figures": list(map(_figure, found.figures.rows)),
        "pauses": list(_pauses(found)),
        "repeated": asdict(found.repeated),
        "failed_runs": found.missing,
    }


def _figure(row: ComparedFigure) -> dict[str, Any]:
    item = row.difference
    return {
        "step": row.pair.number,
        "spec": row.pair.spec,
        **asdict(row.about),
        "seeds": row.seeds,
        "mean_a": row.before,
        "mean_b": row.after,
        "difference": asdict(item.interval),
        "relative": item.relative,
        "delta": item.found.delta,
        "rank_p": item.found.rank_p,
        "claim": row.claim,
        "of_build": row.is_of_build,
        "by_ranks": item.is_by_ranks,
        "gain": row.gain,
        "not_decided": row.is_open,
    }


def _pauses(found: KernelsResult) -> Iterator[dict[str, Any]]:
    for item in found.pauses:
        head = {"step": item.pair.number, "spec": item.pair.spec, "load": item.load, "seed": item.seed}
        yield head | {"a": asdict(item.before), "b": asdict(item.after)}
