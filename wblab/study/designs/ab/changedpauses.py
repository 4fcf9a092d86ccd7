"""Why the pauses that changed were as long as they were: the longest one of a load, before and after, side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.analysis.runs.run import Run, read_run
from wblab.analysis.why.explanations import explanations
from wblab.core.errors import WblabError
from wblab.report.quantities import duration, percent
from wblab.study.cells import Cell, run_name
from wblab.study.designs.ab.figures import ComparedFigure
from wblab.study.designs.ab.plan import Pair

_MOST_KINDS = 3
_LITTLE = 0.02  # of a pause: smaller parts are not listed


@dataclass(frozen=True)
class Pause:
    """The longest pause of a load in one run. kinds: of wait, with their shares of it, the longest first.

    call: the system call of the longest wait, empty if there is none. unexplained: why there are no kinds.
    """

    run: str
    pause_ns: int
    kinds: tuple[tuple[str, float], ...] = ()
    call: str = ""
    unexplained: str = ""

    @property
    def words(self) -> str:
        """The pause in words: 15.5 s: 96 % journal writes block, 4 % commit (in openat)."""
        if not self.pause_ns:
            return "no pause"
        kinds = ", ".join(f"{percent(share)} {kind}" for kind, share in self.kinds)
        call = f" (in {self.call})" if self.call else ""
        return f"{duration(self.pause_ns)}: {kinds or self.unexplained}{call}"


@dataclass(frozen=True)
class ChangedPause:
    """The longest pause of a load with one seed, before and after a step."""

    pair: Pair
    load: str
    seed: int
    before: Pause
    after: Pause


def changed_pauses(rows: Iterable[ComparedFigure], runs: Path, seeds: Sequence[int]) -> list[ChangedPause]:
    """Return the pauses behind claimed differences, once for each load and spec. runs: their directories.

    Of all seeds that both cells have, the one with the longest pause on either side is shown.
    """
    found: dict[tuple[str, str, str], tuple[Pair, str]] = {}
    for row in rows:
        key = row.pair, row.about.load
        if row.claimed and row.about.sort.role == "innocent" and row.about.sort.has_pauses:
            found.setdefault((key[0].before.name, key[0].after.name, key[1]), key)
    return [item for pair, load in found.values() if (item := _changed(pair, load, runs, seeds))]


def _changed(pair: Pair, load: str, runs: Path, seeds: Sequence[int]) -> ChangedPause | None:
    both = {seed: (_run(runs, pair.before, seed), _run(runs, pair.after, seed)) for seed in seeds}
    lengths = {seed: [_longest_ns(run, load) for run in pair_ if run] for seed, pair_ in both.items() if all(pair_)}
    if not lengths:
        return None
    seed = max(lengths, key=lambda each: (max(lengths[each]), -each))
    before, after = (_pause(run, load) for run in both[seed] if run)
    return ChangedPause(pair, load, seed, before, after)


def _run(runs: Path, cell: Cell, seed: int) -> Run | None:
    path = runs / run_name(cell, seed)
    try:
        return read_run(path) if path.is_dir() else None
    except WblabError:
        return None


def _longest_ns(run: Run, load: str) -> int:
    return max((int(item.pauses_ns.max(initial=0)) for item in run.loads if item.name == load), default=0)


def _pause(run: Run, load: str) -> Pause:
    longest_ns = _longest_ns(run, load)
    if not longest_ns:
        return Pause(run.name, 0)
    try:
        explained = [item.explanation for item in explanations(run, load, longest_ns - 1)]
    except WblabError as error:
        return Pause(run.name, longest_ns, unexplained=f"not explained: {error}")
    item = explained[0]
    shares = [(kind, time_ns / longest_ns) for kind, time_ns in item.parts.items()]
    kinds = [(kind, share) for kind, share in sorted(shares, key=lambda each: -each[1]) if share >= _LITTLE]
    call = max(item.causes, key=lambda cause: cause.time_ns).call if item.causes else ""
    return Pause(run.name, longest_ns, tuple(kinds[:_MOST_KINDS]), call)
