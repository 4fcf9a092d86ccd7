"""Runs of a witness that the machine spoiled: the control load, which only sleeps, was itself stalled.

Only the host's clock lets a machine do that. Such a run is repeated a few times, and does not count.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wblab.analysis.runs.metrics import control_stall_s
from wblab.analysis.runs.run import read_run
from wblab.core.units import NS_PER_S
from wblab.study.cells import run_name
from wblab.study.designs.witness.figure import STALLED_S
from wblab.study.designs.witness.substrates import AXIS
from wblab.study.run import Tally
from wblab.study.store import Store

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
