"""What `wblab why` prints: a sentence, what trials on its run say of it, further causes, and a pause in detail."""

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from wblab.commands.common import print_wrapped, results, shown_run

if TYPE_CHECKING:
    from wblab.analysis.runs.run import Run
    from wblab.analysis.why.explain import Explanation
    from wblab.analysis.why.explanations import Explained
    from wblab.report.whyanswer import Group
    from wblab.study.designs.prove.tried import Tried

# Tries a cause on its run; of the causes after the first, only who counts. None if that is not wanted.
Attempt: TypeAlias = "Callable[[Group, Tried | None], Tried | None]"

_MOST_CAUSES = 5  # causes that are printed after the first
_MOST_KILLS = 5  # OOM kills that are printed


def attempts(arguments: argparse.Namespace, run: "Run", bound_ns: int) -> Attempt:
    """Return what tries causes on their run, until the time that the arguments give is over. Raises InputError."""
    if arguments.no_try:
        return lambda group, before: None
    from wblab.core.units import NS_PER_S, parse_time
    from wblab.kernels import built_kernels
    from wblab.study.designs.prove.runs import proofs

    until_s = time.monotonic() + parse_time(arguments.try_for) / NS_PER_S
    place, resolve = proofs(run.path, results(arguments)) / "tried", built_kernels(arguments.kernel)

    def attempt(group: "Group", before: "Tried | None") -> "Tried | None":
        from wblab.study.designs.prove.tried import Terms, try_on_run

        if before and (before.search is None or before.why_not):
            return None
        return try_on_run(run, group, Terms(place, resolve, until_s, bound_ns), is_brief=before is not None)

    return attempt


def _each_tried(causes: "list[Group]", first: "Tried | None", attempt: Attempt) -> "list[Tried | None]":
    """Try the causes after the first, too, in the time that is left."""
    found = [first]
    for group in causes[1 : 1 + _MOST_CAUSES]:
        last = found[-1]
        found.append(attempt(group, last) if last else None)
    return [*found, *[None] * (len(causes) - len(found))]


def print_answer(run: "Run", found: "list[Explained]", bound: str, attempt: Attempt) -> None:
    """Print the answer: a sentence at once, what trials say of it, the other causes, and a pause in detail."""
    from wblab.report.pausetext import run_line
    from wblab.report.whyanswer import groups, sentence

    if not found:
        print_wrapped([run_line(run), *_killed(run), f"No pause over {bound}."])
        return
    explained = [item.explanation for item in found]
    causes = groups(explained)
    failed = [f"The run failed: {run.failure}. This explains what it recorded until then."] if run.failure else []
    print_wrapped([run_line(run), *(failed or _killed(run)), "", sentence(causes[0])])
    sys.stdout.flush()
    first = attempt(causes[0], None)
    print_wrapped([*_ends(causes[0], run, first), ""])
    sys.stdout.flush()
    tried = _each_tried(causes, first, attempt)
    print_wrapped(_further(run, causes, tried, explained))
    if any(item.is_interrupted for item in tried if item):
        raise KeyboardInterrupt


def _killed(run: "Run") -> list[str]:
    """Return a line for each of a run's first OOM kills, and how many there were more."""
    from wblab.core.units import NS_PER_S
    from wblab.lab.oomkills import oom_kills, said

    kills = oom_kills(run.path)
    lines = [f"{said(kill, run.zero_ns / NS_PER_S)}." for kill in kills[:_MOST_KILLS]]
    return [*lines, *([f"It killed {len(kills) - _MOST_KILLS} more."] if len(kills) > _MOST_KILLS else [])]


def _further(
    run: "Run", causes: "list[Group]", tried: "list[Tried | None]", explained: "list[Explanation]"
) -> list[str]:
    """Return a sentence for each cause after the first, and the longest pause of the first in detail."""
    from wblab.report.whyanswer import sentence
    from wblab.report.whytext import sentences, total
    from wblab.study.designs.prove.words import first_line

    first, name = causes[0], shown_run(run)
    said = [first_line(each) if each else "" for each in tried[1:]]
    also = [
        " ".join(filter(None, (f"Also: {sentence(group)}", more))) for group, more in zip(causes[1:], said, strict=True)
    ]
    lines = also[:_MOST_CAUSES]
    if len(also) > _MOST_CAUSES:
        left = len(also) - _MOST_CAUSES
        lines.append(f"And {left} more {'cause' if left == 1 else 'causes'}, for less time.")
    lines += [""] if also else []
    longest = first.longest
    more = f", the longest of the {len(first.items)} pauses of the first cause" if len(first.items) > 1 else ""
    lines += [f"In detail{more}:", *sentences(longest), "", *total(explained)]
    close_up = f"--from {longest.start_ns / 1e9:.3f}s --to {longest.end_ns / 1e9:.3f}s"
    return [
        *lines,
        f"    wblab timeline {name} {close_up}    # draw it",
        f"    wblab why {name} --evidence    # every pause with its evidence; --html: as a page",
    ]


def _ends(group: "Group", run: "Run", tried: "Tried | None") -> list[str]:
    """Return what trials say of a cause; without any, what shortened such pauses elsewhere."""
    from wblab.lab.specfile import LiveSpec
    from wblab.report.whyanswer import by_itself, remedy
    from wblab.study.designs.prove.words import lines

    known, way = remedy(group), by_itself(group)
    found = [way] if way and not (tried and tried.search and tried.search.limits) else []
    if tried and tried.search:
        return [*found, *lines(tried, shown_run(run), shlex.quote(str(run.path)))]
    if isinstance(run.spec, LiveSpec):
        return found or ([] if group.longest.blame == "not writeback" else _to_set(run))
    if known:
        measured = f" ({known.measured})" if known.measured else ""
        found.append(f"In the lab, {known.what} {'shortened' if measured else 'may shorten'} such pauses{measured}.")
    found += lines(tried, "", "") if tried else []
    if known and is_emulated(run):
        found.append(f"    wblab run {shlex.quote(str(run.path))} --set {known.setting}")
    return found


def _to_set(run: "Run") -> list[str]:
    """Return the command that finds what to set on the machine of a live run, or why there is none."""
    from wblab.core.errors import InputError
    from wblab.study.designs.twin.machine import machine_of

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


def print_json(run: "Run", found: "list[Explained]", attempt: Attempt) -> None:
    """Print all explanations; the longest pause of each cause has its sentence, and what was tried for it."""
    from wblab.report.whyanswer import groups, sentence
    from wblab.study.designs.prove.words import table

    tables = [_table(run, item) for item in found]
    causes = groups([item.explanation for item in found])
    tried = _each_tried(causes, attempt(causes[0], None), attempt) if causes else []
    for group, each in zip(causes, tried, strict=True):
        place = next(at for at, item in enumerate(found) if item.explanation is group.longest)
        tables[place] |= {"sentence": sentence(group), "tried": table(each) if each else None}
    print(json.dumps(tables, indent=2))
    if any(item.is_interrupted for item in tried if item):
        raise KeyboardInterrupt


def _table(run: "Run", found: "Explained") -> dict[str, Any]:
    """Return an explanation as a JSON object, with its events as text."""
    from wblab.report.whytext import event_text

    item = found.explanation
    table = asdict(item) | {"unknown_ns": item.unknown_ns, "unexplained_ns": item.unexplained_ns, "blame": item.blame}
    for cause in table["causes"]:
        cause["events"] = [event_text(run, found.recorded, rank) for rank in cause["events"]]
    return table
