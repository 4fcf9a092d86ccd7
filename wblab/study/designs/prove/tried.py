"""Try a sentence of `wblab why` on its own run: without those it names, and with settings that may help."""

import re
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from wblab.analysis.runs.run import Run, guest_spec
from wblab.analysis.why.account import REQUEST, RUNNABLE
from wblab.analysis.why.explain import Explanation
from wblab.analysis.why.tasks import AGENT
from wblab.core.errors import InputError, WblabError
from wblab.core.loads.base import NEVER
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S
from wblab.kernels import Kernel, KernelResolver
from wblab.lab.progress import bar
from wblab.report.whyanswer import reason
from wblab.report.whycause import Group, accused, dropped, main_chain, spent_in
from wblab.study.designs.prove.bench import Bench, Made, bench
from wblab.study.designs.prove.candidates import Wait
from wblab.study.designs.prove.change import LeftOut, RemedyChange, phase_named
from wblab.study.designs.prove.effect import ChangeEffect, RunPauses, cycles_of, effect, row_of
from wblab.study.designs.prove.repeating import LATE
from wblab.study.designs.prove.search import EffectQuestion, Search, Try, Without
from wblab.study.designs.prove.trial import acts_ns, changed_spec, loads_start_ns, suspects
from wblab.study.work import own_program

# A load is stopped this long before it first does anything, and before the next one is stopped: the guest may have to
# wait for the processor, and looks through all processes for those of the load, which takes 20 ms.
_BEFORE_NS = 50_000_000
_FIRST_NS = 1_000_000
_MARGIN_NS = NS_PER_S  # guest time after the pause
_EXACT_NS = 1000
_LOOK_S = 0.2
_CYCLES = 100  # of a load with fewer, a share is coarse; a command has two
_COMM = 15  # the kernel cuts the names of tasks
_THROTTLED = "throttled"
_NAME = "trial"
_WAITS: dict[str, Wait] = {REQUEST: "queue", RUNNABLE: "processor"}


@dataclass(frozen=True)
class TriedSentence:
    """What was tried for a pause; None if it cannot be. why_not: why nothing was tried, or not all; empty if all was.

    cost_s: about how long a trial takes.
    """

    pause: Explanation
    search: Search | None
    why_not: str = ""
    is_interrupted: bool = False
    cost_s: float = 0


@dataclass(frozen=True)
class Terms:
    """How trials are made. place: where their rows are kept. until_s: when time is over, as time.monotonic has it.

    bound_ns: a pause of at most this length counts as gone.
    """

    place: Path
    resolve: KernelResolver
    until_s: float
    bound_ns: int


def try_on_run(run: Run, group: Group, terms: Terms, *, is_brief: bool = False) -> TriedSentence:
    """Try the longest pause of a group on its run. An interrupt ends the trials, too.

    is_brief: try no settings, only who causes it.
    """
    pause = group.longest
    try:
        kernel = _kernel(run, terms.resolve)
        search = Search(question_of(run, group), is_brief)
    except InputError as error:
        return TriedSentence(pause, None, str(error))
    judge = _Judge(run, pause, search.question, terms.bound_ns)
    try:
        with bench(run, kernel, terms.place, terms.until_s) as at:
            why_not = _tried(judge, search, at, terms.until_s)
            return TriedSentence(pause, search, why_not, cost_s=judge.cost_s)
    except WblabError as error:
        return TriedSentence(pause, search, str(error))
    except KeyboardInterrupt:
        return TriedSentence(pause, search, "interrupted", is_interrupted=True)


def _tried(judge: "_Judge", search: Search, at: Bench, until_s: float) -> str:
    """Try what the search wants, several at a time, until nothing is left or the time is over; return why not all."""
    out: dict[str, Try] = {}
    numbers, begun_s = count(), time.monotonic()
    with ExitStack() as stack:
        report = None
        while True:
            wanted = [item for item in search.wanted() if item not in out.values()]
            if known := next(((item, row) for item in wanted if (row := at.kept(judge.spec(item)))), None):
                search.effects[known[0]] = judge.effect(*known)
                continue  # what is wanted next may be something else
            for item in wanted[: at.slots - len(out)] if time.monotonic() + judge.cost_s / 2 < until_s else ():
                out[key := str(next(numbers))] = item
                at.give(key, judge.spec(item))
            if not out:
                return LATE if wanted else ""
            report = report or stack.enter_context(bar("trying it on this run"))  # a thread: it follows the forks
            passed = (time.monotonic() - begun_s) / max(_LOOK_S, until_s - begun_s)
            report(min(1.0, passed), f"{len(search.effects)} tried")
            for key, made in at.ended(_LOOK_S):
                item = out.pop(key)
                if made != LATE:
                    search.effects[item] = judge.effect(item, made)


class _Judge:
    """Turns what is to be tried into specs, and what was made of those into effects."""

    def __init__(self, run: Run, pause: Explanation, question: EffectQuestion, bound_ns: int) -> None:
        self._run = run
        self.about = pause
        self._stalled = question.stalled
        self._bound_ns = bound_ns
        self._known = row_of(run, run)
        self._start_ns = loads_start_ns(run) - run.zero_ns
        self._specs: dict[Try, Spec] = {}

    @property
    def cost_s(self) -> float:
        """About how long a trial takes here: its share of the known run, as long as that took."""
        wall_s, guest_s = (self._run.record.get(key) for key in ("wall_s", "guest_s"))
        if not isinstance(wall_s, int | float) or not isinstance(guest_s, int | float) or guest_s <= 0:
            return 0
        end_s = (self._run.zero_ns + self.about.end_ns) / NS_PER_S
        return float(wall_s * min(1.0, end_s / guest_s))

    def spec(self, item: Try) -> Spec:
        """Return the spec of a trial. It ends after the pause; with a setting, which may move the pause, later."""
        if item not in self._specs:
            change = left_out(self._run, item.names) if isinstance(item, Without) else item.change
            more_ns = _MARGIN_NS if isinstance(item, Without) else max(_MARGIN_NS, self.about.pause_ns)
            spec = changed_spec(self._run, change, 0, self.about.end_ns - self._start_ns + more_ns)
            self._specs[item] = replace(spec, name=_NAME)
        return self._specs[item]

    def effect(self, item: Try, made: Made) -> ChangeEffect:
        """Return the effect of a trial."""
        pause = self.about
        nothing = ChangeEffect(pause.pause_ns, self._bound_ns)
        if isinstance(made, str):
            return replace(nothing, failure=made)
        if 0 <= made.differs_ns < self._changed_ns(item) - _EXACT_NS:
            return replace(nothing, failure="it differs before the change, so it says nothing")
        if isinstance(item, Without) and (late := self._begun(item, made)):
            return replace(nothing, failure=f"{late} began before it was stopped, so it says nothing")
        found = effect(self._known, made, pause, self._stalled, self._bound_ns)
        stand_ins = () if isinstance(item, Without) else item.stand_ins
        return replace(found, shares=self._shares(made, stand_ins))

    def _begun(self, item: Without, made: RunPauses) -> str:
        """Return a load left out that did something nevertheless, after it had slept; empty if none did."""
        slept = [each.name for each in self._run.loads if each.load.sleeps_first and each.name in item.names]
        return next((name for name in slept if made.cycles.get(name, 0) > 1), "")

    def _shares(self, made: RunPauses, stand_ins: Sequence[tuple[str, str, float]]) -> tuple[tuple[str, float], ...]:
        """Return how much each offender, or what stands in for it, did, as a share of what it did in the known run."""
        before, run = cycles_of(self._run, self._run.zero_ns + made.end_ns), self._run
        names = [item.name for item in run.loads if item.load.role == "offender" and before[item.name] >= _CYCLES]
        after = {**made.cycles, **{name: made.cycles.get(new, 0) * worth for name, new, worth in stand_ins}}
        return tuple((name, min(1.0, after.get(name, 0) / before[name])) for name in names)

    def _changed_ns(self, item: Try) -> int:
        """Return until when a trial must equal the known run: not at all if its guest is another one from the start."""
        if isinstance(item, Without):
            change = left_out(self._run, item.names)
            phases = guest_spec(self._run).phase
            times_ns = [*(time_ns for _, time_ns in change.loads), *(phases[name].at for name in change.phases)]
            return 0 if change.agents else self._start_ns + min(times_ns)
        return self._start_ns if isinstance(item.change, RemedyChange) else 0


def left_out(run: Run, names: Sequence[str]) -> LeftOut:
    """Return the change that leaves out loads, just before they first do anything, agents and phases.

    The guest stops one load after the other.
    """
    start_ns, spec = loads_start_ns(run), guest_spec(run)
    begins_ns = {item.name: acts_ns(run, item) - start_ns for item in run.loads if item.name in names}
    times, next_ns = dict[str, int](), int(NEVER)
    for name, begin_ns in sorted(begins_ns.items(), key=lambda each: -each[1]):
        next_ns = times[name] = max(_FIRST_NS, min(begin_ns, next_ns) - _BEFORE_NS)
    loads = tuple((item.name, times[item.name]) for item in run.loads if item.name in names)
    phases = tuple(name for name in spec.phase if phase_named(name) in names)
    return LeftOut(loads, tuple(name for name in spec.agent if name in names), phases)


def question_of(run: Run, group: Group) -> EffectQuestion:
    """Return what to try for the longest pause of a group."""
    spec, pause = guest_spec(run), group.longest
    stalled = tuple(dict.fromkeys(item.load for item in group.items))
    chain, request = main_chain(pause)
    others = suspects(run, pause)
    likely = [name for name in others if spec.load[name].role == "offender"]
    until_ns = pause.end_ns + run.zero_ns - loads_start_ns(run)
    phases = [phase_named(name) for name, phase in spec.phase.items() if phase.at < until_ns]
    whose = _who(spec, accused(group))
    named = tuple(name for name in whose if name in {*others, *spec.agent})
    disk, why = request.name if request and request.name in spec.disk else "", reason(group)
    return EffectQuestion(
        spec=spec,
        load=pause.load,
        stalled=stalled,
        named=named,
        likely=(*likely, *spec.agent),
        others=(*phases, *(name for name in others if name not in likely)),
        wait=_WAITS.get(chain.end, "limit" if chain.links[-1][1] == _THROTTLED else "other"),
        disk=disk,
        is_own=pause.load in whose,
        names_limit=bool(request and request.is_limited) or spent_in(pause) is not None,
        mentioned=_mentioned((*others, *phases, *spec.agent), pause, why),
    )


def _mentioned(names: Sequence[str], pause: Explanation, why: str) -> tuple[str, ...]:
    """Return who is in the words of a reason; all, if it says that something dropped the load's data from memory."""
    if dropped(pause):
        return tuple(names)
    return tuple(name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", why))


def _who(spec: Spec, said: Sequence[str]) -> tuple[str, ...]:
    """Return the loads and agents that a sentence names, or whose children it does; none if it names neither."""
    names = [name.removeprefix(AGENT).partition("'s ")[0] for name in said]
    known = {each[:_COMM]: each for each in (*spec.agent, *spec.load)}
    return tuple(dict.fromkeys(known[name[:_COMM]] for name in names if name[:_COMM] in known))


def _kernel(run: Run, resolve: KernelResolver) -> Kernel:
    """Return the kernel of a run. Raises InputError for a run that cannot be repeated to the bit here."""
    spec = guest_spec(run)
    if "machine" in run.record:
        raise InputError("in an emulator, time is that of instructions, so a change is felt before it is made")
    if spec.clock.mode != "virtual":
        raise InputError("it was made in real time, where no two runs are identical")
    kernel = resolve(spec.kernel.build)
    used = (run.record.get("kernel") or {}).get("build_id"), (run.record.get("guest") or {}).get("program_sha256")
    for there, here, what in zip(
        used, (kernel.build_id, own_program()), ("kernel build", "lab or Python"), strict=True
    ):
        if there != here:
            raise InputError(f"it was made with another {what}: 'wblab repeat' it, and ask of the new run")
    return kernel
