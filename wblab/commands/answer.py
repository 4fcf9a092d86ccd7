"""What `wblab why` prints: the answer with what it tries for it, all pauses with their evidence, proofs, or a page."""

import argparse
import json
import shlex
import time
from collections import deque
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.analysis.runs.captures import captures
from wblab.analysis.runs.lanes import lanes_of
from wblab.analysis.runs.run import Run as AnyRun
from wblab.analysis.runs.run import guest_spec
from wblab.analysis.why.explanations import Explained, explanations
from wblab.api.recorded import Run
from wblab.commands.common import named_run, note, results
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S, parse_time
from wblab.lab.printable import printable
from wblab.lab.specfile import LiveSpec
from wblab.lab.wings import offered
from wblab.report.lanestext import lanes_lines
from wblab.report.pausetext import shown_run
from wblab.report.quantities import duration
from wblab.report.report import Lines, Report
from wblab.report.text import show
from wblab.report.whycause import Group
from wblab.report.whyremedy import by_itself, remedy
from wblab.report.whyreport import Untried, in_stages, report
from wblab.report.whytext import event_text, evidence
from wblab.study.designs.prove import words

if TYPE_CHECKING:  # what makes runs is loaded where runs are made
    from wblab.study.designs.prove.tried import TriedSentence


def why(arguments: argparse.Namespace) -> None:
    """Explain the pauses that the arguments choose, as they ask: in short, in full, proved or as a page.

    Raises InputError.
    """
    if arguments.html and (arguments.json or arguments.prove):
        raise InputError("--html cannot be combined with --json or --prove: call 'wblab why' once for each")
    for option in ("suspect", "remedy"):
        if getattr(arguments, option) and not arguments.prove:
            raise InputError(f"--{option} {getattr(arguments, option)[0]} needs --prove: add that option")
    run = Run.of(named_run(arguments))
    if arguments.prove:
        guest_spec(run)  # a live run is refused at once, before its pauses are explained
    bound_ns = parse_time(arguments.bound)
    bound = duration(bound_ns)
    found = explanations(run, arguments.load, bound_ns)
    if said := of_programs(run):
        note(said)
    if arguments.pause:
        if arguments.pause > len(found):
            has = "1 pause" if len(found) == 1 else f"{len(found)} pauses"
            raise InputError(f"--pause {arguments.pause}: the run has {has} over {bound}")
        found = [found[arguments.pause - 1]]
    if arguments.prove:
        _prove(arguments, run, found, bound_ns)
    elif arguments.html:
        print(printable(str(_write_pages(run, found, bound))))
    else:
        _answer(arguments, run, found, bound_ns)


def of_programs(run: AnyRun) -> str:
    """Say how to explain the captures of a program that is no load of the run (`wblab live --pid`); empty if none."""
    names = {item.name for item in run.loads}
    others = [capture for capture in captures(run) if capture.load not in names]
    longest = max(others, key=lambda capture: capture.pause.duration_ns, default=None)
    if longest is None:
        return ""
    name, _, task = longest.load.rpartition("-")
    return f"{name}'s pauses were captured too: wblab why {shlex.quote(str(longest.path))} --task {task}"


def _answer(arguments: argparse.Namespace, run: Run, found: list[Explained], bound_ns: int) -> None:
    """Print the answer, or all pauses with their evidence, or both for programs."""
    bound = duration(bound_ns)
    if arguments.evidence and not arguments.json:
        show(Report("", "", evidence(run, found, bound)))
        return
    trials = Trials(run, arguments, bound_ns)
    if arguments.json:
        print(json.dumps(report(run, found, bound, trials).data["pauses"], indent=2))
    else:
        known, more = in_stages(run, found, bound, trials)
        lanes = Lines(tuple(lanes_lines([lanes_of(run, bound_ns=bound_ns)])), indent=0)
        show(known, more=chain(more, [lanes] if lanes.lines else []))
    if trials.is_interrupted:
        raise KeyboardInterrupt


def _prove(arguments: argparse.Namespace, run: Run, found: list[Explained], bound_ns: int) -> None:
    """Prove the causes of the longest pause, or a remedy. Raises InputError."""
    from wblab.study.designs.prove.proving import Proof
    from wblab.study.designs.prove.runs import maker
    from wblab.study.designs.prove.trial import Trial

    if is_emulated(run):
        raise InputError(
            "--prove: on a stock kernel a change is felt before it is made, as time is that of instructions: "
            "repeat the spec with --kernel 7.2, and prove that run"
        )
    if not found:
        raise InputError(f"--prove: the run has no pause over {duration(bound_ns)}: try a shorter --bound")
    longest = max(found, key=lambda item: item.explanation.pause_ns)
    event = partial(event_text, run, longest.recorded)
    with maker(run, results(arguments), arguments.kernel) as make:
        trial = Trial(run, longest.explanation, make, bound_ns)
        proof = Proof(trial, longest.recorded, event, arguments.suspect, arguments.remedy)
        if arguments.json:
            deque(proof.blocks(), maxlen=0)
            print(json.dumps(proof.data, indent=2))
        else:
            show(Report("", "", ()), more=proof.blocks())


def _write_pages(run: Run, found: list[Explained], bound: str) -> Path:
    """Write the page of explanations and the timeline that it links to; return the path of the first."""
    from wblab.plot.page import save_page
    from wblab.plot.whypage import TIMELINE, drawn_report
    from wblab.report.page import write

    path = write(drawn_report(run, found, bound), run.path / "why.html")
    save_page(run.panes(None), run.path / TIMELINE)
    return path


class Trials(Untried):
    """Tries the causes of pauses on their run, one after the other, until the time that the arguments give is over."""

    def __init__(self, run: Run, arguments: argparse.Namespace, bound_ns: int) -> None:
        """Raises InputError."""
        super().__init__(run)
        self._bound_ns, self._is_wanted = bound_ns, not arguments.no_try
        self._made: list[TriedSentence] = []
        if self._is_wanted:
            from wblab.kernels import built_kernels
            from wblab.study.designs.prove.runs import proofs

            self._until_s = time.monotonic() + parse_time(arguments.try_for) / NS_PER_S
            self._place, self._resolve = proofs(run.path, results(arguments)), built_kernels(arguments.kernel)

    @property
    def is_interrupted(self) -> bool:
        """Whether an interrupt ended the trials."""
        return any(each.is_interrupted for each in self._made)

    def first(self, group: Group) -> list[str]:
        """Return what trials say of a cause; without any, what shortened such pauses elsewhere."""
        tried, name, path = self._tried(group), shown_run(self.run), shlex.quote(str(self.run.path))
        if tried and tried.search:
            way = [] if tried.search.limits else [by_itself(group)]
            return [*filter(None, way), *words.lines(tried, name, path)]
        found = super().first(group)
        if isinstance(self.run.spec, LiveSpec):
            return found or ([] if group.longest.blame == "not writeback" else _to_set(self.run))
        found += words.lines(tried, "", "") if tried else []
        if (known := remedy(group)) and is_emulated(self.run):
            settings = known.settings(self.run.spec)
            found.append(f"    wblab run {path} " + " ".join(f"--set {setting}" for setting in settings))
        return found

    def further(self, group: Group) -> str:
        """Try a further cause, in the time that is left, and return what that says in a sentence; empty for nothing."""
        last = self._made[-1] if self._made else None
        tried = self._tried(group) if last and last.search and not last.why_not else None
        return words.first_line(tried) if tried else ""

    def after(self, group: Group) -> list[str]:
        """Return the commands that show more of the first cause."""
        name, item = shown_run(self.run), group.longest
        close_up = f"--from {item.start_ns / NS_PER_S:.3f}s --to {item.end_ns / NS_PER_S:.3f}s"
        return [
            f"    wblab timeline {name} {close_up}    # draw it",
            f"    wblab why {name} --evidence    # every pause with its evidence; --html: as a page",
        ]

    def table(self, group: Group) -> dict[str, Any] | None:
        """Return the trials of a cause as a JSON object; None if there was none."""
        tried = next((each for each in self._made if each.pause is group.longest), None)
        return words.table(tried) if tried else None

    def _tried(self, group: Group) -> "TriedSentence | None":
        """Try a cause on the run; of the causes after the first, only who counts."""
        if not self._is_wanted:
            return None
        from wblab.study.designs.prove.tried import Terms, try_on_run

        terms = Terms(self._place / "tried", self._resolve, self._until_s, self._bound_ns)
        self._made.append(try_on_run(self.run, group, terms, is_brief=bool(self._made)))
        return self._made[-1]


def _to_set(run: AnyRun) -> list[str]:
    """Return the command that finds what to set on the machine of a live run, or why there is none."""
    machine_of = offered("what describes a machine")
    if not machine_of:
        return []
    try:
        machine_of(run)
    except InputError as error:
        return [f"What to set on this machine is not known. {error}."]
    directory = shlex.quote(str((run.record.get("live") or {}).get("directory") or "DIR"))
    return [
        "This run cannot be repeated. To find out what to set, try remedies on a small model of its machine, there:",
        f"    wblab advise --dir {directory} --like {shown_run(run)}",
    ]


def is_emulated(run: AnyRun) -> bool:
    """Whether a run was made in an emulator, whose time is that of instructions: nothing can be proved there."""
    return "machine" in run.record
