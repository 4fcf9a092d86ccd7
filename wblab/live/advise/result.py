"""The result: effects of all remedies, the recommendation and its reason, and whether the twin matches a live run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2
from pathlib import Path
from typing import Any

from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.statistics.decision import REPRODUCED
from wblab.core.errors import InputError, WblabError
from wblab.live.advise.figures import RemedyFigures, RemedyOutcome, figures, outcome_of, worse
from wblab.live.advise.files import files_of
from wblab.live.advise.plan import AXIS, Candidate, Option, said_of, unknown_in
from wblab.live.advise.record import Advice
from wblab.live.advise.remedies import NOW
from wblab.live.advise.settings import Where
from wblab.live.twin.result import UNNOTICED, Match, matches
from wblab.report.quantities import column, percent, quantity, span
from wblab.study.cells import Cell, run_name
from wblab.study.store import Store

# Choose the remedy to recommend.
#
# A remedy helps if it shortens the longest pause by a fifth or more, the interval of that change excludes zero, and no
# wait time grows; beside copies in small and in large blocks, if it was tried with both. Halving the longest pause is
# worth a fifth of the offender's rate, down to a pause that nobody notices.
# The remedy of highest worth is recommended if that exceeds its cost. Among remedies of about the same worth, the one
# with the fewest settings wins.

UNNOTICED_S = UNNOTICED["longest_pause_s"]
LEAST_GAIN = 0.2  # share of the longest pause
HALVING = 0.2  # share of the offender's rate that halving the longest pause is worth
_SAME = 0.1  # halvings
_NOTHING = 0.005  # share of the offender's rate
Outcomes = Mapping[str, Mapping[int, RemedyOutcome]]  # of a remedy, by size of the copy's blocks and seed


@dataclass(frozen=True)
class AdviceChoice:
    """The recommended remedy, or None, and the reason in one or two sentences."""

    name: str | None
    reason: str


def choose(
    now: RemedyFigures,
    others: Sequence[RemedyFigures],
    candidates: Mapping[str, Candidate],
    live_s: float | None = None,
) -> AdviceChoice:
    """Choose a remedy. candidates: their settings, by name. live_s: a live run's longest pause, in s.

    A live run without noticeable pauses overrides the twin's prediction.
    """
    pause_s = now.mean("longest_pause_s")
    best, expected = helping(now, others, live_s), quantity(pause_s, "s")
    if live_s is not None and live_s < UNNOTICED_S:
        seen = f"the longest pause in the live run was {quantity(live_s, 's')}"
        return AdviceChoice(
            None, f"{seen}, and nobody notices a pause below {UNNOTICED_S:g} s; the twin predicts {expected}"
        )
    if pause_s < UNNOTICED_S:
        return AdviceChoice(
            None,
            f"the expected longest pause is only {expected}, and nobody notices a pause below {UNNOTICED_S:g} s",
        )
    if not best:
        some = helping_in_part(now, others)
        if some is not None and live_s is None:
            return AdviceChoice(None, some)
        few = min((len(row.outcomes) for row in (now, *others)), default=0)
        none = f"none of {len(others)} remedies clearly shortens the longest pause by a fifth"
        return AdviceChoice(None, f"{none}, with {few} run{'s' * (few != 1)} each; more seeds may show one (--seeds N)")
    most = _price(best[0])
    shortest = min(best, key=lambda row: row.mean("longest_pause_s"))
    if most >= _halvings(pause_s):
        return AdviceChoice(None, f"every remedy that helps costs more than it gains: {_alternative(shortest)}")
    near = [row for row in best if _price(row) <= most + _SAME]
    chosen = min(near, key=lambda row: (_effort(candidates[row.name]), _price(row)))
    before, after = column([pause_s, chosen.mean("longest_pause_s")], "s")
    reason = f"it shortens the expected longest pause from {before} to {after}{_by(chosen)}, {_cost(chosen, 'and')}"
    more = "No other remedy makes it shorter" if shortest is chosen else _alternative(shortest)
    return AdviceChoice(chosen.name, f"{reason}. {more}")


def helping(now: RemedyFigures, others: Sequence[RemedyFigures], live_s: float | None = None) -> list[RemedyFigures]:
    """Return the remedies that help, best first; none if no pause is noticeable without them."""
    pause_s = now.mean("longest_pause_s")
    if min(pause_s, pause_s if live_s is None else live_s) < UNNOTICED_S:
        return []
    return sorted((row for row in others if _helps_throughout(row, now)), key=_price)


def helping_in_part(now: RemedyFigures, others: Sequence[RemedyFigures]) -> str | None:
    """Say which remedy helps with some guesses at what nobody knows, and not with others; None if none does."""
    for block, before in now.parts.items():
        found = [row for row in others if _helps(row.parts[block], before.mean("longest_pause_s"))]
        if found:
            best = min(found, key=lambda row: _price(row.parts[block]))
            unlike = "; ".join(f"with {case} from {_change(now.parts[case], best.parts[case])}" for case in now.parts)
            head = f"no remedy helps in all of these cases, and nobody knows {' and '.join(unknown_in(now.parts))}"
            return f"{head}: {best.name} changes the longest pause {unlike}"
    return None


def _change(before: RemedyFigures, after: RemedyFigures) -> str:
    return " to ".join(column([before.mean("longest_pause_s"), after.mean("longest_pause_s")], "s"))


def _halvings(pause_s: float) -> float:
    """Return how many halvings bring a pause down to one second; all unnoticeable pauses count the same."""
    return log2(max(pause_s, UNNOTICED_S))


def _price(row: RemedyFigures) -> float:
    """Return a remedy's remaining pause plus its cost, in halvings: less is better."""
    return _halvings(row.mean("longest_pause_s")) + row.cost / HALVING


def _alternative(row: RemedyFigures) -> str:
    """Describe the effect and the cost of another remedy."""
    return f"{row.name} would give {quantity(row.mean('longest_pause_s'), 's')}, {_cost(row, 'but')}"


def _cost(row: RemedyFigures, joint: str) -> str:
    """Describe what a remedy costs the offender. joint: the conjunction before the cost."""
    if row.cost < _NOTHING:
        return "at no cost for the heavy writer"
    return f"{joint} makes the heavy writer {percent(row.cost)} slower"


def _by(row: RemedyFigures) -> str:
    """Return the interval of how much a remedy shortens the longest pause; '' if it has none."""
    found = row.longest_pause_s
    if found is None or found.low is None or found.high is None:
        return ""
    return f" (by {span(-found.high, -found.low, 's')})"


def _helps(row: RemedyFigures, now_s: float) -> bool:
    if row.name == NOW or row.longest_pause_s is None or row.wait_time_s is None:
        return False
    enough = row.longest_pause_s.estimate <= -LEAST_GAIN * now_s
    return enough and row.longest_pause_s.claim < 0 and row.wait_time_s.claim <= 0


def _helps_throughout(row: RemedyFigures, now: RemedyFigures) -> bool:
    """Whether a remedy helps with each size of blocks in which pauses are noticed, and leaves the others unnoticed."""
    if not now.parts:
        return _helps(row, now.mean("longest_pause_s"))
    each = [(row.parts[block], before.mean("longest_pause_s")) for block, before in now.parts.items()]
    return _helps(row, now.mean("longest_pause_s")) and all(
        _helps(part, before_s) or max(before_s, part.mean("longest_pause_s")) < UNNOTICED_S for part, before_s in each
    )


def _effort(candidate: Candidate) -> tuple[bool, int]:
    """Return a remedy's effort: whether the heavy writer must be known, then the number of settings."""
    return candidate.has_group, len(candidate.wanted)


@dataclass(frozen=True)
class AdviceResult:
    """now: the current settings. others: the remedies, shortest pause first. runs: run directories by remedy."""

    path: Path
    advice: Advice
    now: RemedyFigures
    others: Sequence[RemedyFigures]
    runs: dict[str, list[Path]]
    matches: Sequence[Match]

    @cached_property
    def choice(self) -> AdviceChoice:
        """The recommendation."""
        return choose(self.now, self.others, self._candidates, self._live_s)

    @property
    def helping(self) -> list[RemedyFigures]:
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
    outcome: Callable[[Run, float], RemedyOutcome] = outcome_of,
) -> AdviceResult:
    """Return the result of a study's runs. Raises InputError; WblabError if no run has the current settings.

    read: reads the run in a directory. outcome: of a run, by the factor by which the machine is larger than its twin.
    """
    runs = _runs(store, read)
    outcomes: dict[str, Outcomes] = {
        name: {
            block: {seed: outcome(run, advice.factor) for seed, run in each.items()} for block, each in blocks.items()
        }
        for name, blocks in runs.items()
    }
    now, *others = rows_of(outcomes)
    if not now.outcomes:
        raise WblabError(f"{store.path} has no run with the current settings: wblab advise --resume {store.path}")
    paths = {name: [run.path for each in blocks.values() for run in each.values()] for name, blocks in runs.items()}
    live = _live(advice)
    matched = _best_match(live, [list(each.values()) for each in runs[NOW].values()]) if live else []
    return AdviceResult(store.path, advice, now, others, paths, matched)


def rows_of(outcomes: Mapping[str, Outcomes]) -> list[RemedyFigures]:
    """Return the figures of the machine as it is, then of all remedies, shortest pause first.

    outcomes: by remedy. Of several sizes of blocks the worse outcome of each seed counts, if all of them are there.
    """
    blocks = list(outcomes.get(NOW, {})) or [""]
    whole: dict[str, dict[int, RemedyOutcome]] = {}
    for name, each in outcomes.items():
        seeds = [seed for seed in each.get(blocks[0], {}) if all(seed in each.get(block, {}) for block in blocks)]
        if seeds:
            whole[name] = {seed: worse([each[block][seed] for block in blocks]) for seed in seeds}
    now, others = whole.pop(NOW, {}), whole
    rows = [RemedyFigures(NOW, now), *figures(now, others)]
    if len(blocks) < 2:
        return rows
    parts: dict[str, dict[str, RemedyFigures]] = {row.name: {} for row in rows}
    for block in blocks:
        of_block = {name: outcomes[name][block] for name in whole}
        before = outcomes[NOW][block]
        for part in (RemedyFigures(NOW, before), *figures(before, of_block)):
            parts[part.name][block] = part
    return [replace(row, parts=parts[row.name]) for row in rows]


def _best_match(live: Run, twins: Sequence[list[Run]]) -> list[Match]:
    """Compare a live run with its twins, whose copies differ in their blocks; return the comparison that fits best."""
    found = [matches(live, runs) for runs in twins]
    return max(found, key=lambda each: sum(item.outcome == REPRODUCED for item in each))


def _live(advice: Advice) -> Run | None:
    """Return the live run on which the study is based, if it still exists."""
    try:
        return read_run(Path(advice.live)) if advice.live else None
    except InputError:
        return None


def _runs(store: Store, read: Callable[[Path], Run]) -> dict[str, dict[str, dict[int, Run]]]:
    """Return the finished runs, by remedy, size of the copy's blocks and seed."""
    found: dict[str, dict[str, dict[int, Run]]] = {}
    for cell in store.plan.cells:
        each = {seed: _run(store, cell, seed, read) for seed in store.plan.seeds}
        if there := {seed: run for seed, run in each.items() if run}:
            found.setdefault(str(cell.levels[AXIS]), {})[said_of(cell.levels)] = there
    return found


def _run(store: Store, cell: Cell, seed: int, read: Callable[[Path], Run]) -> Run | None:
    path = store.runs / run_name(cell, seed)
    return read(path) if path.is_dir() else None


# The second round: pairs of the best remedies.
#
# The first round tries each remedy alone. The second takes the best three remedies that help and set different keys,
# and
# tries every pair of them with the same seeds. The study's plan stores the choice, so a resumed study tries the same
# pairs.

BEST = 3


def second_round(found: AdviceResult) -> list[Option]:
    """Return the pairs to try after the first round; none if the second round has begun."""
    tried = {candidate.name for candidate in found.advice.candidates}
    if any(option.candidate.name in tried for option in found.advice.pairs):
        return []
    return pairs_of_best([found.advice.candidate(row.name) for row in found.helping], found.advice.pairs)


def pairs_of_best(helping: Sequence[Candidate], pairs: Sequence[Option]) -> list[Option]:
    """Return pairs of the best remedies. helping: the remedies that help, best first. pairs: all possible pairs."""
    best: dict[str, set[tuple[Where, str]]] = {}
    for candidate in helping:
        sets = {(item.where, item.key) for item in candidate.wanted}
        if len(best) < BEST and not any(sets & others for others in best.values()):
            best[candidate.name] = sets
    return [option for option in pairs if best.keys() >= set(option.of)]
