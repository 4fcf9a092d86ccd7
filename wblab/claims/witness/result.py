"""What a witness says: which loads are stalled on which substrate, and whether substrates agree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal

from wblab.analysis.runs.metrics import control_stall_s
from wblab.analysis.runs.pauses import load_pauses
from wblab.analysis.runs.run import LoadCycles, Run, read_run
from wblab.claims.witness.substrates import AXIS
from wblab.core.units import NS_PER_S
from wblab.study.cells import run_name
from wblab.study.run import Tally
from wblab.study.statement import STALLED_S
from wblab.study.store import Store

# Whether a load is stalled on a substrate: the figure that a witness compares. It needs no package.

Word = Literal["stalled", "not stalled", "in some runs"]


@dataclass(frozen=True)
class LongestPause:
    """The longest pause of one load on one substrate, in s, over seeds; at least one."""

    values_s: tuple[float, ...]

    @property
    def median_s(self) -> float:
        """The median over seeds."""
        return median(self.values_s)

    @property
    def word(self) -> Word:
        """Whether the load is stalled: in all runs, in none, or in some."""
        stalled = [value > STALLED_S for value in self.values_s]
        return "stalled" if all(stalled) else "in some runs" if any(stalled) else "not stalled"


# Runs of a witness that the machine spoiled: the control load, which only sleeps, was itself stalled.
#
# Only the host's clock lets a machine do that. Such a run is repeated a few times, and does not count.

BOUND_NS = int(STALLED_S * NS_PER_S)  # a stall of the machine that long would count as one of a load


@dataclass(frozen=True)
class Spoiled:
    """The spoiled runs of one seed on one substrate.

    stalls_s: the control load's longest stall in each, in s. run: the name of the run that counts, if there is one.
    """

    substrate: str
    seed: int
    stalls_s: tuple[float, ...]
    run: str
    is_replaced: bool

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "substrate": self.substrate,
            "seed": self.seed,
            "control_stall_s": list(self.stalls_s),
            "repeated": self.is_replaced,
        }


def spoiled(store: Store) -> list[Spoiled]:
    """Return what was spoiled of a study, cell by cell. Raises InputError for a run that cannot be read."""
    return list(_spoiled(store))


def without_spoiled(tally: Tally, noisy: Sequence[Spoiled]) -> Tally:
    """Return a tally whose failures are those that no busy machine explains."""
    given_up = {each.run for each in noisy if not each.is_replaced}
    failures = [each for each in tally.failures if run_name(each[0].cell, each[0].seed) not in given_up]
    return replace(tally, failures=failures)


def _spoiled(store: Store) -> Iterator[Spoiled]:
    missing = {run_name(cell, seed) for cell, seed in store.missing()}
    for cell in store.plan.cells:
        for seed in store.plan.seeds:
            if paths := store.noisy(cell, seed):
                stalls_s = tuple(control_stall_s(read_run(path)) for path in paths)
                name = run_name(cell, seed)
                yield Spoiled(str(cell.levels[AXIS]), seed, stalls_s, name, name not in missing)


Agreement = Literal["agree", "differ", "not decided"]


@dataclass(frozen=True)
class WitnessedLoad:
    """One load on all substrates, in their order; None where no run succeeded. One substrate alone decides nothing."""

    load: str
    figures: tuple[LongestPause | None, ...]

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
    rows: tuple[WitnessedLoad, ...]
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
    rows = tuple(WitnessedLoad(load, tuple(_figure(of, load) for of in runs.values())) for load in loads)
    releases = tuple(str(of[0].record["kernel"]["release"]) if of else "" for of in runs.values())
    noise_s = tuple(tuple(control_stall_s(run) for run in of) for of in runs.values())
    return Witness(tuple(runs), releases, rows, noise_s)


def _figure(runs: Sequence[Run], load: str) -> LongestPause | None:
    found = [load_pauses(item, 0).longest_pause_s for run in runs for item in _innocent(run) if item.name == load]
    return LongestPause(tuple(found)) if found else None


def _innocent(run: Run) -> list[LoadCycles]:
    return [item for item in run.loads if item.load.role == "innocent"]
