"""An audit: a random part of a study's runs made again, and how many of them are the same to the bit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wblab.analysis.statistics.intervals import generator, wilson
from wblab.core.errors import InputError
from wblab.study.cells import Cell, run_name
from wblab.study.designs.audit import NAME
from wblab.study.inputs import different
from wblab.study.made import Made, made_of
from wblab.study.plan import Plan
from wblab.study.store import Store

CONFIDENCE = 0.95
_CHOSEN = "runs"  # key of `about`: the names of the chosen runs


@dataclass(frozen=True)
class Audit:
    """The result. runs: of the study; same: names of the runs that are identical; differing: the inputs by run.

    failed: runs that could not be made again, with reasons. low, high: the 95 % interval of the rate of identical runs.
    """

    runs: int
    same: tuple[str, ...]
    differing: Mapping[str, tuple[str, ...]]
    failed: Mapping[str, str]

    @property
    def compared(self) -> int:
        """The number of runs that were made again."""
        return len(self.same) + len(self.differing)

    @property
    def rate(self) -> tuple[float, float, float]:
        """The share of identical runs, and the ends of its interval (Wilson's). Raises ValueError if none was made."""
        if not self.compared:
            raise ValueError("no run was made again")
        low, high = wilson(len(self.same), self.compared, CONFIDENCE)
        return len(self.same) / self.compared, float(low), float(high)


def audit_plan(store: Store, share: float, seed: int) -> Plan:
    """Return the plan that makes a random part of a study's runs again. share: over 0, at most 1; at least one run.

    Raises InputError if the study has no runs, or some in real time, which nobody can repeat.
    """
    names = sorted(made.name for made in made_of(store))
    if not names:
        raise InputError(f"{store.path} has no runs yet")
    if real := next((cell for cell in store.plan.cells if cell.spec.clock.mode == "real"), None):
        raise InputError(f"{store.path} has runs in real time, which are never the same twice (the cell {real})")
    count = max(1, round(share * len(names)))
    chosen = generator(seed, "audit").choice(len(names), count, replace=False)
    about = {_CHOSEN: [names[place] for place in sorted(chosen)], "of": store.plan.name}
    name = f"{store.plan.name[:58]}-audit"
    return replace(store.plan, name=name, design=NAME, keep="digests", shard=None, about=about)


def chosen(plan: Plan) -> list[str]:
    """Return the names of the chosen runs. Raises InputError if the plan is no audit's."""
    names = plan.about.get(_CHOSEN)
    there = {run_name(cell, seed) for cell, seed in plan.runs()}
    if not isinstance(names, list) or not names or not there.issuperset(names):
        raise InputError(f"{plan.name}: it does not name the runs of an audit")
    return names


def named_run_of(store: Store, text: str) -> tuple[Cell, int]:
    """Return the cell and seed of a run: its name, CELL/SEED, or a cell's number, from 0, for its first seed.

    Raises InputError for another text.
    """
    cell, slash, seed = text.rpartition("/")
    name, cells = f"{cell}-s{seed}" if slash else text, store.plan.cells
    if text.isascii() and text.isdigit() and int(text) < len(cells):
        return cells[int(text)], store.plan.seeds[0]
    found = next((run for run in store.plan.runs() if run_name(*run) == name), None)
    if found is None:
        first = run_name(*store.plan.runs()[0])
        raise InputError(
            f"--run: {store.path} has no run {text!r}: give a name such as {first}, or a cell's number, "
            f"0 to {len(cells) - 1}"
        )
    return found


def judged(store: Store, again: Store, failures: Mapping[str, str]) -> Audit:
    """Compare the runs of a study with those made again. failures: reasons by the names of runs."""
    wanted = set(chosen(again.plan))
    first = {made.name: made for made in made_of(store)}
    second = {made.name: made for made in made_of(again) if made.name in wanted}
    if absent := second.keys() - first.keys():
        raise InputError(f"{again.path} is no audit of {store.path}: that has no run {min(absent)!r}")
    same = [name for name in sorted(second) if first[name].digest == second[name].digest]
    differing = {name: _inputs(first[name], second[name]) for name in sorted(second.keys() - set(same))}
    return Audit(len(first), tuple(same), differing, dict(failures))


def _inputs(first: Made, second: Made) -> tuple[str, ...]:
    return tuple(different(first.made_with, second.made_with))
