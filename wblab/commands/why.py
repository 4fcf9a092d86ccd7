"""wblab why: the cause of each pause of a run."""

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from wblab.commands.common import (
    add_bound,
    add_exp,
    add_json,
    add_kernel,
    add_run,
    named_run,
    print_wrapped,
    results,
    run_line,
    shown_run,
    traced,
    whole,
)
from wblab.lab.printable import printable
from wblab.report.quantities import duration

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wblab.analysis.runs.run import Run
    from wblab.analysis.why.explain import Explanation
    from wblab.analysis.why.explanations import Explained
    from wblab.report.whyanswer import Group
    from wblab.study.designs.counterfactual.tried import Tried

_MOST_CAUSES = 5  # causes that are printed after the first


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Explain each pause of a run: what the load waited for, which task held it up, and which I/O was ahead in the "
        "queue, by who dirtied it. The evidence of a wait is two kernel stacks, of the sleeper and of the waker; "
        "where they disagree, the cause is unknown."
    )
    add_run(parser)
    add_exp(parser)
    parser.add_argument("--load", default="", metavar="LOAD", help="only pauses of this load")
    parser.add_argument("--pause", type=whole(1), metavar="N", help="only pause number N, in the order of time")
    parser.add_argument(
        "--prove",
        action="store_true",
        help="repeat the run without each suspect: how does the pause change (default: the longest), and what is the "
        "latest effective intervention, the last moment when stopping the suspect still prevents it",
    )
    parser.add_argument(
        "--suspect", action="append", default=[], metavar="LOAD", help="with --prove: leave this load out; repeatable"
    )
    parser.add_argument(
        "--remedy",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="with --prove: repeat the run with this setting instead, and find the last moment when it still helps. "
        "KEY is one that a phase can set: sysctl.vm.dirty_bytes=4194304, disk.disk.queue.nr_requests=4, "
        "load.l1.ioclass=idle. Give it again to set several at once",
    )
    parser.add_argument(
        "--no-try",
        action="store_true",
        help="repeat nothing. Without this option, a guest's run is repeated without the load that is named, and with "
        "settings that may help; what does not help is not advised",
    )
    parser.add_argument(
        "--try-for",
        default="10s",
        metavar="TIME",
        help="how long that may take (default: 10s). What was tried is kept: a second call continues",
    )
    add_kernel(parser, "the run's; for what is repeated")
    add_bound(parser)
    add_json(parser)
    parser.add_argument(
        "--evidence",
        action="store_true",
        help="print every pause with its evidence: kernel functions and trace events",
    )
    parser.add_argument(
        "--html",
        action="store_true",
        help="write a page, why.html, into the run directory, with bars, chains and evidence, and the timeline that it "
        "links to, timeline.html",
    )
    parser.set_defaults(run=_why)


def _why(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import guest_spec, read_run
    from wblab.analysis.why.explanations import explanations
    from wblab.core.errors import InputError
    from wblab.core.units import parse_time
    from wblab.report.whyevidence import evidence

    if arguments.html and (arguments.json or arguments.prove):
        raise InputError("--html cannot be combined with --json or --prove: call 'wblab why' once for each")
    for option in ("suspect", "remedy"):
        if getattr(arguments, option) and not arguments.prove:
            raise InputError(f"--{option} {getattr(arguments, option)[0]} needs --prove: add that option")
    run = read_run(named_run(arguments))
    if arguments.prove:
        guest_spec(run)  # a live run is refused at once, before its pauses are explained
    bound_ns = parse_time(arguments.bound)
    bound = duration(bound_ns)
    found = explanations(run, arguments.load, bound_ns)
    if arguments.pause:
        if arguments.pause > len(found):
            has = "1 pause" if len(found) == 1 else f"{len(found)} pauses"
            raise InputError(f"--pause {arguments.pause}: the run has {has} over {bound}")
        found = [found[arguments.pause - 1]]
    if arguments.prove:
        _prove(arguments, run, found, bound_ns)
    elif arguments.html:
        print(printable(str(_write_pages(run, found, bound))))
    elif arguments.json:
        _print_json(run, found, partial(_tried, arguments, run, bound_ns))
    elif arguments.evidence:
        print_wrapped(evidence(run, found, bound))
    else:
        _print_answer(run, found, bound, partial(_tried, arguments, run, bound_ns))


def _prove(arguments: argparse.Namespace, run: "Run", found: "list[Explained]", bound_ns: int) -> None:
    """Prove the causes of the longest pause, or a remedy. Raises InputError."""
    from wblab.commands.prove import maker, prove
    from wblab.core.errors import InputError
    from wblab.report.whyevidence import event_text
    from wblab.study.designs.counterfactual.trial import Trial

    if _is_emulated(run):
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
        prove(trial, longest.recorded, event, arguments.suspect, arguments.remedy, as_json=arguments.json)


def _write_pages(run: "Run", found: "list[Explained]", bound: str) -> "Path":
    """Write the page of explanations and the timeline that it links to; return the path of the first."""
    from wblab.analysis.why.explanations import explain_all
    from wblab.plot.page import page, save_page
    from wblab.plot.timeline import timeline
    from wblab.plot.whypage import TIMELINE, why_page
    from wblab.report.render import write_page

    path = run.path / "why.html"
    write_page(path, why_page(run, found, bound))
    cache = traced(run, "the timeline")
    whole = timeline(run, cache, explained=explain_all(run, cache) if cache else [])
    save_page(page(whole), run, run.path / TIMELINE)
    return path


def _tried(arguments: argparse.Namespace, run: "Run", bound_ns: int, group: "Group") -> "Tried | None":
    """Try the cause of a group of pauses, and what shortens them, on their run; None if that is not wanted."""
    from wblab.commands.prove import proofs
    from wblab.core.units import NS_PER_S, parse_time
    from wblab.kernels import built_kernels
    from wblab.study.designs.counterfactual.tried import try_on_run

    time_s = parse_time(arguments.try_for) / NS_PER_S
    if arguments.no_try:
        return None
    place = proofs(run.path, results(arguments)) / "tried"
    return try_on_run(run, group, place, built_kernels(arguments.kernel), time_s, bound_ns)


def _print_answer(run: "Run", found: "list[Explained]", bound: str, attempt: "Callable[[Group], Tried | None]") -> None:
    """Print the answer: a sentence at once, what trials say of it, the other causes, and a pause in detail."""
    from wblab.report.whyanswer import groups, sentence

    if not found:
        print_wrapped([run_line(run), f"No pause over {bound}."])
        return
    explained = [item.explanation for item in found]
    causes = groups(explained)
    failed = [f"The run failed: {run.failure}. This explains what it recorded until then."] if run.failure else []
    print_wrapped([run_line(run), *failed, "", sentence(causes[0])])
    sys.stdout.flush()
    tried = attempt(causes[0])
    print_wrapped([*_ends(causes[0], run, tried), "", *_further(run, causes, explained)])
    if tried and tried.is_interrupted:
        raise KeyboardInterrupt


def _further(run: "Run", causes: "list[Group]", explained: "list[Explanation]") -> list[str]:
    """Return a sentence for each cause after the first, and the longest pause of the first in detail."""
    from wblab.report.whyanswer import sentence
    from wblab.report.whytext import sentences, total

    first, name = causes[0], shown_run(run)
    also = [f"Also: {sentence(group)}" for group in causes[1:]]
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
    from wblab.lab.livespec import LiveSpec
    from wblab.report.whyanswer import by_itself, remedy
    from wblab.study.designs.counterfactual.words import lines

    known, way = remedy(group), by_itself(group)
    found = [way] if way else []
    if tried and tried.search:
        return [*found, *lines(tried, shown_run(run), shlex.quote(str(run.path)))]
    if isinstance(run.spec, LiveSpec):
        return found or ([] if group.longest.blame == "not writeback" else _to_set(run))
    if known:
        measured = f" ({known.measured})" if known.measured else ""
        found.append(f"In the lab, {known.what} {'shortened' if measured else 'may shorten'} such pauses{measured}.")
    found += lines(tried, "", "") if tried else []
    if known and _is_emulated(run):
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


def _is_emulated(run: "Run") -> bool:
    """Whether a run was made in an emulator, whose time is that of instructions: nothing can be proved there."""
    return "machine" in run.record


def _print_json(run: "Run", found: "list[Explained]", attempt: "Callable[[Group], Tried | None]") -> None:
    """Print all explanations; the longest pause of the first cause has what was tried for it."""
    from wblab.report.whyanswer import groups, sentence
    from wblab.study.designs.counterfactual.words import table

    tables = [_table(run, item) for item in found]
    if causes := groups([item.explanation for item in found]):
        tried = attempt(causes[0])
        chosen = next(each for each, item in zip(tables, found, strict=True) if item.explanation is causes[0].longest)
        chosen["sentence"] = sentence(causes[0])
        chosen["tried"] = table(tried) if tried else None
    print(json.dumps(tables, indent=2))
    if causes and tried and tried.is_interrupted:
        raise KeyboardInterrupt


def _table(run: "Run", found: "Explained") -> dict[str, Any]:
    """Return an explanation as a JSON object, with its events as text."""
    from wblab.report.whyevidence import event_text

    item = found.explanation
    table = asdict(item) | {"unknown_ns": item.unknown_ns, "unexplained_ns": item.unexplained_ns, "blame": item.blame}
    for cause in table["causes"]:
        cause["events"] = [event_text(run, found.recorded, rank) for rank in cause["events"]]
    return table
