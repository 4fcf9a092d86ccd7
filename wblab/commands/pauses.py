"""wblab why --pauses: the pauses of every load."""

import argparse
import json
from typing import TYPE_CHECKING

from wblab.commands.common import add_bound, add_exp, add_json, add_run, named_run, note, print_wrapped, results
from wblab.core.errors import InputError
from wblab.core.units import parse_time
from wblab.report.quantities import quantity

if TYPE_CHECKING:
    from wblab.analysis.runs.pauses import PauseReport
    from wblab.analysis.runs.run import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Print the pauses of every load of a run and, for each disk, who wrote most to it."
    add_run(parser)
    add_exp(parser)
    add_bound(parser)
    parser.add_argument("--causes", action="store_true", help="also how much of them each cause explains (wblab why)")
    about = "compare with this run, made before a change of the machine; repeatable: then with the median of these"
    parser.add_argument("--before", action="append", default=[], metavar="RUN", help=about)
    add_json(parser)
    parser.set_defaults(run=_pauses)


def _pauses(arguments: argparse.Namespace) -> None:
    from wblab.analysis.runs.pauses import pause_report
    from wblab.analysis.runs.writers import traces_dirtied_folios
    from wblab.api.recorded import Run
    from wblab.report.pausetext import report as report_of
    from wblab.report.text import show

    if arguments.before and (arguments.json or arguments.causes):
        raise InputError("--before cannot be combined with --json or --causes: call 'wblab why --pauses' once for each")
    bound_ns = parse_time(arguments.bound)
    run = Run.of(named_run(arguments))
    cache = run.traced("the list of writers") if traces_dirtied_folios(run) else None
    report = pause_report(run, bound_ns, cache)
    if arguments.before:
        _compare(arguments, run, report, bound_ns)
    else:
        found = report_of(run, report, _causes(run, bound_ns) if arguments.causes else None)
        if arguments.json:
            print(json.dumps(found.data, indent=2))
        else:
            show(found)
    if report.reason:
        note(f"this run did not succeed: {report.reason}")
    if report.control_stall_s:
        note(
            f"this run is noisy: the control load stalled for {quantity(report.control_stall_s, 's')}, so the "
            "host disturbed it: repeat it on a quieter machine or with the virtual clock"
        )


def _compare(arguments: argparse.Namespace, run: "Run", report: "PauseReport", bound_ns: int) -> None:
    """Print a table of the runs before and this one, and which settings differ."""
    from wblab.analysis.runs.pauses import pause_report
    from wblab.analysis.runs.run import find_run, read_run
    from wblab.report.pausetext import before_after, changed

    earlier = [read_run(find_run(name, results(arguments))) for name in arguments.before]
    before_after([pause_report(each, bound_ns) for each in earlier], report).show()
    print_wrapped(["", *changed(earlier[-1], run)])


def _causes(run: "Run", bound_ns: int) -> dict[str, dict[str, int]]:
    from wblab.analysis.why.explanations import explanations
    from wblab.analysis.why.shares import by_load

    return by_load(item.explanation for item in explanations(run, bound_ns=bound_ns))
