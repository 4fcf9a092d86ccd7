"""The runs that claims need, as a study with one cell per case.

Claims are judged while other runs are still going on. Workers draw the figures and read the traces, and return only
small results.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.analysis.runs.run import read_run
from wblab.analysis.statistics.decision import NOT_TESTABLE
from wblab.claims.sources.cases import CASES, case_spec
from wblab.claims.sources.claim import Claim, Samples, settled
from wblab.claims.sources.sample import Sample
from wblab.claims.verify import NAME
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.host.machine import machine_lock
from wblab.host.request import ready
from wblab.kernels import KernelResolver
from wblab.study.cells import Cell, run_name
from wblab.study.plan import Plan
from wblab.study.run import run_store
from wblab.study.statement import Verdict
from wblab.study.store import Store

if TYPE_CHECKING:
    from wblab.report.report import Picture
    from wblab.study.run import Tally

CASE = "case"  # the name of the axis
_NOISE_LIMIT_NS = 3600 * 10**9  # so long that no run counts as noisy: the checks handle noise
_LONGEST = "sync"  # this case takes longest, so it starts first

Draw = Callable[[str, Sample], "list[Picture]"]  # arguments: a case and a run of it


@dataclass(frozen=True)
class Found:
    """The verdicts in the order of the claims, the runs by case, and figures of single runs by case.

    Cases are in the order of `CASES`; the runs of a case are in the order of their seeds.
    """

    verdicts: tuple[tuple[Claim, Verdict], ...]
    samples: dict[str, list[Sample]]
    shown: "dict[str, list[Picture]]"
    tally: "Tally | None" = None


def plan_of(name: str, specs: Mapping[str, Spec], seeds: int, about: Mapping[str, Any]) -> Plan:
    """Return the plan of the cases in `specs`. Raises ValueError if there are none."""
    order = sorted(specs, key=lambda case: case != _LONGEST)
    cells = tuple(_cell(case, specs[case]) for case in order)
    return Plan(name, tuple(range(1, seeds + 1)), cells, _NOISE_LIMIT_NS, design=NAME, about=about)


class NoCaseError(InputError):
    """No case that claims need can run here."""


def cases_of(claims: Iterable[Claim]) -> list[str]:
    """Return the cases that the claims need, each once and in order."""
    return list(dict.fromkeys(case for claim in claims for case in claim.cases))


def possible(
    claims: Iterable[Claim],
    kernel_name: str,
    resolve: KernelResolver,
    prepare: Callable[[Spec, KernelResolver], object] = ready,
) -> tuple[dict[str, Spec], dict[str, str]]:
    """Return the specs, with seed 1, of the cases that can run here, and why each other one cannot.

    A case may lack a program of this machine, an option of the kernel, or a kernel of its own (Case.kernel). Raises
    NoCaseError if none can run. prepare: raises InputError for a spec that cannot run here.
    """
    specs, impossible = {}, {}
    for case in cases_of(claims):
        try:
            name = kernel_name or (resolve("").series if CASES[case].kernel else "")
            spec = case_spec(case, 1, name)
            prepare(spec, resolve)
        except InputError as error:
            impossible[case] = f"the case {case} cannot run here: {error}"
        else:
            specs[case] = spec
    if impossible and not specs:
        raise NoCaseError(next(iter(impossible.values())))
    return specs, impossible


def check_plan(plan: Plan, claims: Iterable[Claim], impossible: Container[str] = ()) -> None:
    """Raise InputError unless the plan has exactly the cases that the claims need, without the impossible ones.

    Somebody else may have written the plan.
    """
    needed = {case for claim in claims for case in claim.cases if case not in impossible}
    if {cell.name for cell in plan.cells} != needed or any(cell.levels != {CASE: cell.name} for cell in plan.cells):
        raise InputError(f"{plan.name}: its runs do not match its claims: start a new verification")


def examine(
    claims: Sequence[Claim],
    store: Store | None,
    at_once: int | None,
    draw: Draw | None = None,
    impossible: Mapping[str, str] | None = None,
) -> Found:
    """Make the missing runs and judge the claims. A claim whose run failed is not testable.

    store: None if there is nothing to run. draw: returns figures of the first run of each case. impossible: cases that
    cannot be run, with reasons; if given, a check that raises makes its claim untestable instead of raising.
    Workers are forked: call it before any other thread starts.
    """
    examination = Examination(claims, store, draw, impossible)
    tally = run_store(store, None, at_once, following=examination) if store else None
    return examination.found(tally)


@dataclass(frozen=True)
class _Drawing:
    """A run to draw."""

    case: str
    directory: Path


@dataclass(frozen=True)
class _Judging:
    """Claims to judge, by index, and all runs of their cases."""

    places: list[int]
    runs: dict[str, list[Path]]


@dataclass
class Examination:
    """The work after the runs: drawing and judging (see wblab.study.following)."""

    claims: Sequence[Claim]
    store: Store | None
    draw: Draw | None
    impossible: Mapping[str, str] | None
    verdicts: dict[int, Verdict] = field(default_factory=dict)  # by index of the claim
    shown: "dict[str, list[Picture]]" = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)  # by run

    def __post_init__(self) -> None:
        """Decide the claims that need no run, and those that need an impossible one."""
        runs = self.store.plan.runs() if self.store else []
        self.case_of = {run_name(cell, seed): str(cell.levels[CASE]) for cell, seed in runs}
        self.first = {str(cell.levels[CASE]): run_name(cell, seed) for cell, seed in reversed(runs)}
        self.lacking = Counter(self.case_of.values())
        self.verdicts |= {place: claim.check({}) for place, claim in enumerate(self.claims) if not claim.cases}
        self._give_up(range(len(self.claims)), self.impossible or {})
        self.unjudged = _by_first_case(self.claims, self.verdicts)

    def after(self, run: str, failure: str) -> dict[str, _Drawing | _Judging]:
        """Return the jobs that can start after a run: draw a case's first run, judge claims whose runs are complete."""
        case = self.case_of[run]
        self.lacking[case] -= 1
        jobs: dict[str, _Drawing | _Judging] = {}
        if failure:
            self.failures[run] = f"a run of the case {case} failed: {failure}"
        elif self.draw and self.first[case] == run:
            jobs[f"figures of {case}"] = _Drawing(case, self._path(run))
        return jobs | self._judgings()

    def _judgings(self) -> dict[str, _Judging]:
        jobs = {}
        for first, places in list(self.unjudged.items()):
            cases = dict.fromkeys(case for place in places for case in self.claims[place].cases)
            if any(self.lacking[case] for case in cases):
                continue
            self._give_up(places, {self.case_of[run]: reason for run, reason in self.failures.items()})
            if left := [place for place in self.unjudged.pop(first) if place not in self.verdicts]:
                needed = dict.fromkeys(case for place in left for case in self.claims[place].cases)
                jobs[f"claims on {first}"] = _Judging(left, {case: self._runs(case) for case in needed})
        return jobs

    def do(self, job: _Drawing | _Judging) -> Any:
        """Draw or judge in a worker. Wait while a run in real time needs the machine."""
        with machine_lock("virtual", _wait):
            if isinstance(job, _Drawing):
                return self.draw(job.case, _sample(job.directory)) if self.draw else []
            samples = {case: list(map(_sample, runs)) for case, runs in job.runs.items()}
            return {place: self._checked(self.claims[place], samples) for place in job.places}

    def take(self, key: str, made: Any) -> None:
        """Store the figures or verdicts that a job returned."""
        if isinstance(made, dict):
            self.verdicts |= made
        else:
            self.shown[key.removeprefix("figures of ")] = made

    def found(self, tally: "Tally | None") -> Found:
        """Return the verdicts, runs and figures. Call it after every job has ended."""
        cases = [case for case in CASES if case in self.first]
        verdicts = settled([self.verdicts[place] for place in range(len(self.claims))])
        return Found(
            tuple(zip(self.claims, verdicts, strict=True)),
            {case: list(map(_sample, self._runs(case))) for case in cases},
            {case: self.shown.get(case, []) for case in cases},
            tally,
        )

    def _checked(self, claim: Claim, samples: Samples) -> Verdict:
        try:
            return claim.check(samples)
        except Exception as error:
            if self.impossible is None:
                raise
            return Verdict(NOT_TESTABLE, f"its check found no data in these runs ({type(error).__name__}: {error})")

    def _give_up(self, places: Iterable[int], reasons: Mapping[str, str]) -> None:
        """Mark the claims that need a case in `reasons` as not testable."""
        for place in places:
            if found := [reasons[case] for case in self.claims[place].cases if case in reasons]:
                self.verdicts[place] = Verdict(NOT_TESTABLE, found[0])

    def _runs(self, case: str) -> list[Path]:
        """Return the finished runs of a case, in the order of their seeds."""
        return [self._path(run) for run, of in self.case_of.items() if of == case and run not in self.failures]

    def _path(self, run: str) -> Path:
        if self.store is None:
            raise WblabError(f"there is no run {run}")
        return self.store.runs / run


def _cell(case: str, spec: Spec) -> Cell:
    known = CASES[case]
    return Cell(case, {CASE: case}, spec, known.loses)


def _by_first_case(claims: Sequence[Claim], judged: Container[int]) -> dict[str, list[int]]:
    """Return the indices of claims by their first case. Claims judged together read each trace only once.

    judged: claims that already have a verdict; they are left out.
    """
    found: dict[str, list[int]] = {}
    for place, claim in enumerate(claims):
        if claim.cases and place not in judged:
            found.setdefault(claim.cases[0], []).append(place)
    return found


def _wait() -> None:
    """Keep waiting for the machine; a signal interrupts the wait."""


def _sample(directory: Path) -> Sample:
    return Sample(read_run(directory))
