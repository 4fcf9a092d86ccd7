"""The report of a run's explanations: the answer first, what was tried, further causes, and a pause in detail."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from wblab.analysis.runs.run import Run
from wblab.analysis.why.explanations import Explained
from wblab.core.units import NS_PER_S
from wblab.lab.oomkills import oom_kills, said
from wblab.lab.specfile import LiveSpec
from wblab.report.pausetext import run_line
from wblab.report.report import Block, Report, Section, paragraphs
from wblab.report.whyanswer import containers, sentence
from wblab.report.whycause import Group, groups
from wblab.report.whyremedy import by_itself, remedy
from wblab.report.whytext import event_text, pause, total

_MOST_CAUSES = 5  # that are named after the first
_MOST_KILLS = 5  # OOM kills that are named


class Untried:
    """What is known of a cause without trials; those who try it on its run say more."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def first(self, group: Group) -> list[str]:
        """Return lines on the first cause: what ends such pauses, and commands, which are indented."""
        way, known = by_itself(group), remedy(group)
        found = [way] if way else []
        if known and not isinstance(self.run.spec, LiveSpec):
            measured = f" ({known.measured})" if known.measured else ""
            found.append(
                f"In the lab, {known.what} {'shortened' if measured else 'may shorten'} such pauses{measured}."
            )
        return found

    def further(self, group: Group) -> str:
        """Return a sentence on a further cause; empty if there is nothing to say."""
        return ""

    def after(self, group: Group) -> list[str]:
        """Return commands that show more, below everything."""
        return []

    def table(self, group: Group) -> dict[str, Any] | None:
        """Return what was tried for a cause as a JSON object; None if nothing was."""
        return None


def report(
    run: Run,
    found: Sequence[Explained],
    bound: str,
    trials: Untried | None = None,
    detail: Callable[[Explained], Section] | None = None,
) -> Report:
    """Return the report of explained pauses of a run. Its data are those pauses.

    bound: the threshold that they exceed, in words. detail: shows a pause; by default in sentences.
    """
    known, more = in_stages(run, found, bound, trials := trials or Untried(run), detail)
    blocks, tables = tuple(more), [_table(run, item) for item in found]
    for group in groups(item.explanation for item in found):
        place = next(at for at, item in enumerate(found) if item.explanation is group.longest)
        tables[place] |= {"sentence": sentence(group, run.kinds), "tried": trials.table(group)}
    return replace(known, blocks=blocks, data={"pauses": tables})


def in_stages(
    run: Run,
    found: Sequence[Explained],
    bound: str,
    trials: Untried,
    detail: Callable[[Explained], Section] | None = None,
) -> tuple[Report, Iterator[Block]]:
    """Return what is known at once, and its further blocks, which take time if something is tried."""
    title, about = f"{run.name.lstrip('_')}: why was it stalled?", [run_line(run), *_killed(run)]
    if not found:
        return Report(title, f"No pause over {bound}.", (), about=tuple(about)), iter(())
    if run.failure:
        about[1:] = [f"The run failed: {run.failure}. This explains what it recorded until then."]
    causes = groups(item.explanation for item in found)
    known = Report(title, sentence(causes[0], run.kinds), (), about=(*about, ""))
    return known, _more(found, causes, trials, detail or (lambda item: pause(item.explanation)))


def _more(
    found: Sequence[Explained], causes: Sequence[Group], trials: Untried, detail: Callable[[Explained], Section]
) -> Iterator[Block]:
    """Yield what is said of the first cause, of the others, and the longest pause of the first."""
    (first, *others), kinds = causes, trials.run.kinds
    yield Section("", paragraphs([*containers(first), *trials.first(first)]), close=True)
    most_ns = max(group.longest.pause_ns for group in causes)
    also = [
        " ".join(filter(None, (f"{_also(group, first, most_ns)}: {sentence(group, kinds)}", trials.further(group))))
        for group in others[:_MOST_CAUSES]
    ]
    if left := len(others[_MOST_CAUSES:]):
        also.append(f"And {left} more {'cause' if left == 1 else 'causes'}, for less time.")
    yield Section("", (Section("", tuple(also), close=True),))
    more = f", the longest of the {len(first.items)} pauses of the first cause" if len(first.items) > 1 else ""
    longest = next(item for item in found if item.explanation is first.longest)
    yield Section(f"In detail{more}:", (detail(longest),))
    last = total([item.explanation for item in found]), *paragraphs(trials.after(first))
    yield Section("", (Section("", last, close=True),))


def _also(group: Group, first: Group, most_ns: int) -> str:
    """Return how a further cause begins: it says if the longest pause of the run is another than that of the first."""
    is_longest = group.longest.pause_ns == most_ns > first.longest.pause_ns
    return "Also, with the longest pause of all" if is_longest else "Also"


def _killed(run: Run) -> list[str]:
    """Return a line for each of a run's first OOM kills, and how many there were more."""
    kills = oom_kills(run.path)
    lines = [f"{said(kill, run.zero_ns / NS_PER_S)}." for kill in kills[:_MOST_KILLS]]
    return [*lines, *([f"It killed {len(kills) - _MOST_KILLS} more."] if len(kills) > _MOST_KILLS else [])]


def _table(run: Run, found: Explained) -> dict[str, Any]:
    """Return an explanation as a JSON object, with its events as text."""
    item = found.explanation
    table = asdict(item) | {"unknown_ns": item.unknown_ns, "unexplained_ns": item.unexplained_ns, "blame": item.blame}
    for cause in table["causes"]:
        cause["events"] = [event_text(run, found.recorded, rank) for rank in cause["events"]]
    return table
