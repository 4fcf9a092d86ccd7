"""Makes the runs that claims need, several at a time, and judges claims while other runs are made.

Who makes a run also draws it, and who judges claims reads the traces: what comes back from a worker is small.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.claims.base import UNTESTED, Claim, Samples, Verdict
from wblab.claims.cases import CASES, case_spec
from wblab.claims.losses import events_lost
from wblab.claims.sample import Sample
from wblab.data.run import read_run
from wblab.host.jobs import all_of, working
from wblab.host.request import Request, ready
from wblab.host.run import RunFailedError, run_experiment
from wblab.host.turns import turn
from wblab.kernels import Shelf
from wblab.lab.progress import bar

if TYPE_CHECKING:
    from wblab.claims.report import Shown

Jobs = list[tuple[str, Request]]
Draw = Callable[[str, Sample], "list[Shown]"]  # of a case, and a run of it


@dataclass(frozen=True)
class Found:
    """A verdict for each claim, in their order; all runs and the figures of single ones, by case in the cases' order.

    The runs of a case are in the order of their seeds.
    """

    verdicts: tuple[tuple[Claim, Verdict], ...]
    samples: dict[str, list[Sample]]
    shown: "dict[str, list[Shown]]"


@dataclass(frozen=True)
class _Making:
    """A run to make; the first of its case is drawn."""

    case: str
    request: Request


@dataclass(frozen=True)
class _Made:
    """A run that was made, and its figures; failure: why there is none, where that is an answer too."""

    case: str
    seed: int
    directory: Path
    shown: "list[Shown]"
    failure: str = ""


@dataclass(frozen=True)
class _Judging:
    """Claims to judge, by their places, and all runs of their cases."""

    places: list[int]
    runs: dict[str, list[Path]]


_Verdicts = dict[int, Verdict]  # by the places of their claims


def jobs(names: Iterable[str], seeds: int, shelf: Shelf, kernel_name: str = "") -> Jobs:
    """Return the runs of these cases. Raises InputError for one that cannot run here.

    The longest come first, and last those in real time, each of which has the machine to itself.
    """
    wanted = [(name, seed) for name in names for seed in range(1, min(seeds, CASES[name].most_seeds) + 1)]
    found = [(name, ready(case_spec(name, seed, kernel_name), shelf)) for name, seed in wanted]
    return sorted(found, key=lambda job: (job[1].spec.clock.mode == "real", job[0] != "sync"))


def examine(  # noqa: PLR0913 - two of them by name
    claims: Sequence[Claim],
    wanted: Jobs,
    results: Path,
    at_once: int,
    draw: Draw = lambda case, sample: [],
    *,
    impossible: Mapping[str, str] | None = None,
) -> Found:
    """Make the runs that claims need, `at_once` at a time, and judge the claims. Raises RunFailedError.

    draw: returns figures of the first run of each case. impossible: cases that cannot be, and why; where they are
    given, claims on them, on runs that fail, and those whose check finds nothing to look at cannot be tested, and that
    is an answer, no error. No thread is to run yet.
    """
    runs: dict[str, dict[int, _Made]] = {name: {} for name in CASES if name in dict(wanted)}
    lacking = Counter(name for name, _ in wanted)
    verdicts = {place: claim.check({}) for place, claim in enumerate(claims) if not claim.cases}
    forgiving, unfit = impossible is not None, impossible or {}
    verdicts |= _unfit(claims, range(len(claims)), unfit)
    unjudged = _by_first_case(claims, verdicts)

    def one(job: _Making | _Judging) -> _Made | _Verdicts:
        if isinstance(job, _Judging):
            return _judge(job, claims, forgiving=forgiving)
        try:
            return _make(job, results, draw)
        except RunFailedError as error:
            if not forgiving:
                raise
            return _Made(job.case, job.request.spec.seed, Path(), [], f"a run of the case {job.case} failed: {error}")

    def then(result: _Made | _Verdicts) -> Mapping[str, _Judging]:
        if not isinstance(result, _Made):
            verdicts.update(result)
            return {}
        runs[result.case][result.seed] = result
        lacking[result.case] -= 1
        following = {}
        for first, places in list(unjudged.items()):
            cases = dict.fromkeys(case for place in places for case in claims[place].cases)
            if any(lacking[case] for case in cases):
                continue
            failures = {case: made.failure for case in cases for made in runs[case].values() if made.failure}
            verdicts.update(_unfit(claims, places, failures))
            if left := [place for place in unjudged.pop(first) if place not in verdicts]:
                needed = dict.fromkeys(case for place in left for case in claims[place].cases)
                directories = {case: [runs[case][seed].directory for seed in sorted(runs[case])] for case in needed}
                following[f"claims on {first}"] = _Judging(left, directories)
        return following

    makings = {f"{name}, seed {request.spec.seed}": _Making(name, request) for name, request in wanted}
    if makings:
        with working(one, min(at_once, len(makings))) as workers, bar("verify") as report:
            all_of(workers, makings, report, then)
    return Found(
        tuple((claim, verdicts[place]) for place, claim in enumerate(claims)),
        {
            name: [_sample(made[seed].directory) for seed in sorted(made) if not made[seed].failure]
            for name, made in runs.items()
        },
        {name: made[1].shown for name, made in runs.items()},
    )


def _unfit(claims: Sequence[Claim], places: Iterable[int], unfit: Mapping[str, str]) -> _Verdicts:
    """Return the verdict of each of these claims that needs a case which there is not, for these reasons."""
    reasons = {place: [unfit[case] for case in claims[place].cases if case in unfit] for place in places}
    return {place: Verdict(UNTESTED, found[0]) for place, found in reasons.items() if found}


def _by_first_case(claims: Sequence[Claim], judged: Container[int]) -> dict[str, list[int]]:
    """Return the places of claims that are judged together: where they look at the same traces, these are read once.

    judged: those that are not any more.
    """
    found: dict[str, list[int]] = {}
    for place, claim in enumerate(claims):
        if claim.cases and place not in judged:
            found.setdefault(claim.cases[0], []).append(place)
    return found


def _make(job: _Making, results: Path, draw: Draw) -> _Made:
    with turn(job.request.spec.clock.mode, _wait):
        directory, seed = _run(job, results), job.request.spec.seed
        return _Made(job.case, seed, directory, draw(job.case, _sample(directory)) if seed == 1 else [])


def _judge(job: _Judging, claims: Sequence[Claim], *, forgiving: bool) -> _Verdicts:
    with turn("virtual", _wait):  # no neighbour of a run in real time
        samples = {case: list(map(_sample, runs)) for case, runs in job.runs.items()}
        return {place: _checked(claims[place], samples, forgiving=forgiving) for place in job.places}


def _checked(claim: Claim, samples: Samples, *, forgiving: bool) -> Verdict:
    try:
        return claim.check(samples)
    except Exception as error:
        if not forgiving:
            raise
        return Verdict(UNTESTED, f"its check finds nothing to look at here ({type(error).__name__}: {error})")


def _wait() -> None:
    """Go on waiting for a turn: who ends us interrupts us."""


def _sample(directory: Path) -> Sample:
    return Sample(read_run(directory))


def _run(job: _Making, results: Path) -> Path:
    """Make a run, and return its directory; one that lost events is as good, where they are many.

    Raises RunFailedError.
    """
    try:
        return run_experiment(job.request, results).directory
    except RunFailedError as error:
        if not CASES[job.case].loses or error.directory is None or not events_lost(read_run(error.directory)):
            raise
        return error.directory
