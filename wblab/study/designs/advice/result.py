"""The result: effects of all remedies, the recommendation and its reason, and whether the twin matches a live run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wblab.analysis.runs.run import Run, read_run
from wblab.core.errors import InputError, WblabError
from wblab.study.cells import Cell, run_name
from wblab.study.designs.advice.advice import Advice
from wblab.study.designs.advice.choice import Choice, choose, helping
from wblab.study.designs.advice.figures import Figures, Outcome, figures, outcome_of
from wblab.study.designs.advice.files import files_of
from wblab.study.designs.advice.plan import Candidate
from wblab.study.designs.advice.remedies import NOW
from wblab.study.designs.twin.match import Match, matches
from wblab.study.store import Store


@dataclass(frozen=True)
class Result:
    """now: the current settings. others: the remedies, shortest pause first. runs: run directories by remedy."""

    path: Path
    advice: Advice
    now: Figures
    others: Sequence[Figures]
    runs: dict[str, list[Path]]
    matches: Sequence[Match]

    @cached_property
    def choice(self) -> Choice:
        """The recommendation."""
        return choose(self.now, self.others, self._candidates, self._live_s)

    @property
    def helping(self) -> list[Figures]:
        """The remedies that help, best first."""
        return helping(self.now, self.others, self._live_s)

    @property
    def files(self) -> dict[str, str]:
        """The files that install the recommended remedy, by name."""
        return files_of(self.advice.candidate(self.choice.name), self.advice) if self.choice.name else {}

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        candidates = self._candidates
        rows = [
            row.to_json()
            | {
                "about": candidates[row.name].about,
                "settings": [str(item) for item in candidates[row.name].wanted],
                "runs": [str(path) for path in self.runs[row.name]],
            }
            for row in (self.now, *self.others)
        ]
        return {
            "directory": str(self.path),
            "about": list(self.advice.about),
            "notes": list(self.advice.notes),
            "rates_bps": list(self.advice.rates),
            "factor": self.advice.factor,
            "remedies": rows,
            "left_out": self.advice.left_out,
            "recommended": self.choice.name,
            "reason": self.choice.reason,
            "files": self.files,
            "live": self.advice.live or None,
            "matches": [
                {"load": m.load, "metric": m.metric, "live": m.live, "twin": list(m.twin), "outcome": m.outcome}
                for m in self.matches
            ],
        }

    @property
    def _candidates(self) -> dict[str, Candidate]:
        return {item.name: item for item in self.advice.candidates}

    @property
    def _live_s(self) -> float | None:
        """The longest pause of the live run, in s, if there is one."""
        seen = [item.live for item in self.matches if item.metric == "longest_pause_s" and item.live is not None]
        return max(seen, default=None)


def result_of(
    store: Store,
    advice: Advice,
    read: Callable[[Path], Run] = read_run,
    outcome: Callable[[Run, float], Outcome] = outcome_of,
) -> Result:
    """Return the result of a study's runs. Raises InputError; WblabError if no run has the current settings.

    read: reads the run in a directory. outcome: of a run, by the factor by which the machine is larger than its twin.
    """
    runs = _runs(store, read)
    outcomes: dict[str, dict[int, Outcome]] = {
        name: {seed: outcome(run, advice.factor) for seed, run in each.items()} for name, each in runs.items()
    }
    now = outcomes.pop(NOW, {})
    if not now:
        raise WblabError(f"{store.path} has no run with the current settings: wblab advise --resume {store.path}")
    paths = {name: [run.path for run in each.values()] for name, each in runs.items()}
    live = _live(advice)
    matched = matches(live, list(runs[NOW].values())) if live else []
    return Result(store.path, advice, Figures(NOW, now), figures(now, outcomes), paths, matched)


def _live(advice: Advice) -> Run | None:
    """Return the live run on which the study is based, if it still exists."""
    try:
        return read_run(Path(advice.live)) if advice.live else None
    except InputError:
        return None


def _runs(store: Store, read: Callable[[Path], Run]) -> dict[str, dict[int, Run]]:
    """Return the finished runs, by remedy and seed."""
    names = {item: cell for cell in store.plan.cells for item in cell.levels.values()}
    found: dict[str, dict[int, Run]] = {}
    for name, cell in names.items():
        each = {seed: _run(store, cell, seed, read) for seed in store.plan.seeds}
        if there := {seed: run for seed, run in each.items() if run}:
            found[str(name)] = there
    return found


def _run(store: Store, cell: Cell, seed: int, read: Callable[[Path], Run]) -> Run | None:
    path = store.runs / run_name(cell, seed)
    return read(path) if path.is_dir() else None
