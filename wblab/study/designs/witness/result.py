"""What a witness says: which loads are stalled on which substrate, and whether substrates agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wblab.analysis.runs.metrics import control_stall_s
from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.study.designs.witness.figure import Figure

Agreement = Literal["agree", "differ", "not decided"]


@dataclass(frozen=True)
class Row:
    """One load on all substrates, in their order; None where no run succeeded. One substrate alone decides nothing."""

    load: str
    figures: tuple[Figure | None, ...]

    @property
    def agreement(self) -> Agreement:
        """Whether what is decided on each substrate is the same."""
        words = {figure.word for figure in self.figures if figure}
        decided = words - {"in some runs"}
        if len(decided) > 1:
            return "differ"
        seen = sum(figure is not None for figure in self.figures)
        return "agree" if len(words) == 1 and decided and seen > 1 else "not decided"


@dataclass(frozen=True)
class Witness:
    """The result: rows of loads, and for each substrate the control load's longest stalls, in s.

    releases: of the kernels; "" where no run succeeded.
    """

    substrates: tuple[str, ...]
    releases: tuple[str, ...]
    rows: tuple[Row, ...]
    noise_s: tuple[tuple[float, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "substrates": dict(zip(self.substrates, self.releases, strict=True)),
            "control_stall_s": {name: list(values) for name, values in zip(self.substrates, self.noise_s, strict=True)},
            "loads": {
                row.load: {
                    "agreement": row.agreement,
                    "longest_pause_s": {
                        name: list(figure.values_s) if figure else None
                        for name, figure in zip(self.substrates, row.figures, strict=True)
                    },
                }
                for row in self.rows
            },
        }


def witness(runs: Mapping[str, Sequence[Run]]) -> Witness:
    """Return what runs say, by substrate."""
    loads = dict.fromkeys(item.name for of in runs.values() for run in of for item in _innocent(run))
    rows = tuple(Row(load, tuple(_figure(of, load) for of in runs.values())) for load in loads)
    releases = tuple(str(of[0].record["kernel"]["release"]) if of else "" for of in runs.values())
    noise_s = tuple(tuple(control_stall_s(run) for run in of) for of in runs.values())
    return Witness(tuple(runs), releases, rows, noise_s)


def _figure(runs: Sequence[Run], load: str) -> Figure | None:
    found = [load_pauses(item, 0).longest_pause_s for run in runs for item in _innocent(run) if item.name == load]
    return Figure(tuple(found)) if found else None


def _innocent(run: Run) -> list[LoadCycles]:
    return [item for item in run.loads if item.load.role == "innocent"]
