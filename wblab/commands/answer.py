"""What `wblab why` tries for an answer: each cause on its run, and what to do where that cannot be repeated."""

import argparse
import shlex
import time
from typing import TYPE_CHECKING, Any

from wblab.commands.common import results
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S, parse_time
from wblab.lab.specfile import LiveSpec
from wblab.report.pausetext import shown_run
from wblab.report.whyanswer import Group, by_itself, remedy
from wblab.report.whyreport import Untried
from wblab.study.designs.prove import words

if TYPE_CHECKING:
    from wblab.analysis.runs.run import Run
    from wblab.study.designs.prove.tried import TriedSentence


class Trials(Untried):
    """Tries the causes of pauses on their run, one after the other, until the time that the arguments give is over."""

    def __init__(self, run: "Run", arguments: argparse.Namespace, bound_ns: int) -> None:
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
            found.append(f"    wblab run {path} --set {known.setting}")
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


def _to_set(run: "Run") -> list[str]:
    """Return the command that finds what to set on the machine of a live run, or why there is none."""
    from wblab.lab.wings import offered

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


def is_emulated(run: "Run") -> bool:
    """Whether a run was made in an emulator, whose time is that of instructions: nothing can be proved there."""
    return "machine" in run.record
