"""wblab why: the cause of each pause of a run."""

import argparse
import json
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_bound,
    add_exp,
    add_json,
    add_kernel,
    add_run,
    named_run,
    results,
    whole,
)
from wblab.lab.printable import printable
from wblab.report.quantities import duration

if TYPE_CHECKING:
    from pathlib import Path

    from wblab.analysis.why.explanations import Explained
    from wblab.api.recorded import Run


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
        help="repeat the run without each suspect: how the longest pause changes, and when stopping the suspect still "
        "prevents it at the latest",
    )
    parser.add_argument(
        "--suspect", action="append", default=[], metavar="LOAD", help="with --prove: leave this load out; repeatable"
    )
    parser.add_argument(
        "--remedy",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="with --prove: repeat the run with this setting instead, such as sysctl.vm.dirty_bytes=4194304 or "
        "load.l1.ioclass=idle; again to set several at once",
    )
    parser.add_argument(
        "--no-try",
        action="store_true",
        help="repeat nothing: otherwise a guest's run is tried without the load that is named, and with remedies",
    )
    parser.add_argument(
        "--try-for",
        default="10s",
        metavar="TIME",
        help="how long that may take (default: 10s); a second call continues",
    )
    add_kernel(parser, "the run's; for what is repeated")
    add_bound(parser)
    add_json(parser)
    parser.add_argument(
        "--evidence",
        action="store_true",
        help="print every pause with its kernel functions and events",
    )
    parser.add_argument(
        "--html",
        action="store_true",
        help="write why.html, and the timeline that it links to, into the run",
    )
    parser.set_defaults(run=_why)


def _why(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.run import guest_spec
    from wblab.analysis.why.explanations import explanations
    from wblab.api.recorded import Run
    from wblab.core.errors import InputError
    from wblab.core.units import parse_time

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


def _answer(arguments: argparse.Namespace, run: "Run", found: "list[Explained]", bound_ns: int) -> None:
    """Print the answer, or all pauses with their evidence, or both for programs."""
    from wblab.commands.answer import Trials
    from wblab.report.report import Report
    from wblab.report.text import show
    from wblab.report.whyreport import in_stages, report
    from wblab.report.whytext import evidence

    bound = duration(bound_ns)
    if arguments.evidence and not arguments.json:
        show(Report("", "", evidence(run, found, bound)))
        return
    trials = Trials(run, arguments, bound_ns)
    if arguments.json:
        print(json.dumps(report(run, found, bound, trials).data["pauses"], indent=2))
    else:
        known, more = in_stages(run, found, bound, trials)
        show(known, more=more)
    if trials.is_interrupted:
        raise KeyboardInterrupt


def _prove(arguments: argparse.Namespace, run: "Run", found: "list[Explained]", bound_ns: int) -> None:
    """Prove the causes of the longest pause, or a remedy. Raises InputError."""
    from wblab.commands.answer import is_emulated
    from wblab.commands.prove import Proof
    from wblab.core.errors import InputError
    from wblab.report.report import Report
    from wblab.report.text import show
    from wblab.report.whytext import event_text
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


def _write_pages(run: "Run", found: "list[Explained]", bound: str) -> "Path":
    """Write the page of explanations and the timeline that it links to; return the path of the first."""
    from wblab.plot.page import page, save_page
    from wblab.plot.whypage import TIMELINE, drawn_report
    from wblab.report.page import write

    path = write(drawn_report(run, found, bound), run.path / "why.html")
    save_page(page(run.panes(None)), run, run.path / TIMELINE)
    return path
