"""wblab why --layers: where the time of each write and each fsync goes."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import add_exp, add_json, add_run, is_file_of_others, named_run, note
from wblab.lab.wings import needed
from wblab.report.listing import Listing
from wblab.report.quantities import percent

if TYPE_CHECKING:
    from wblab.analysis.layers.bylayer import LayeredCall
    from wblab.analysis.layers.summary import Spread, Summary

_NS_PER_US = 1000
_MOST_PATHS, _MOST_FUNCTIONS = 12, 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Break down each write and fsync of a run's syncwrite and commit loads: on the processor, runnable or asleep, "
        "and asleep by what the load waited for, down to the journal, the queue and the device. These states are "
        "disjoint and sum to the call. The last table sums time by function prefix; nested calls count again."
    )
    add_run(parser, about="a run, latest, or a trace.dat or recorder's file of another machine")
    add_exp(parser)
    parser.add_argument("--load", default="", metavar="LOAD", help="only calls of this load, or task of a trace")
    add_json(parser, "print JSON, with every single call")
    parser.set_defaults(run=_layers)


def _layers(arguments: argparse.Namespace) -> None:
    from wblab.analysis.layers.bylayer import instruction_ns, layers
    from wblab.analysis.layers.summary import summaries
    from wblab.analysis.runs.run import read_run
    from wblab.report.report import Lines, Report
    from wblab.report.text import show

    each_ns = 0
    if is_file_of_others(arguments.run_name):
        found, lacking = needed("the layers of a trace")(Path(arguments.run_name), arguments.load)
        for line in lacking:
            note(line)
    else:
        run = read_run(named_run(arguments))
        found, each_ns = layers(run, arguments.load), instruction_ns(run)
    if arguments.json:
        print(json.dumps([_json(call, each_ns) for call in found], indent=2))
        return
    summed = summaries(found)
    tables = (_states(summed, each_ns), _paths(summed), *_prefixes(summed))
    times = "Times are in us, over all calls. The 99 % and the longest of two states may be of different calls."
    if each_ns:
        times += f" An instruction takes {each_ns} ns; the tracing of a call takes some too."
    show(Report("", "", (*(table.table() for table in tables), Lines((times,), indent=0))))


def _json(call: "LayeredCall", each_ns: int) -> dict[str, Any]:
    from wblab.analysis.layers.calls import CPU

    pieces = [{"path": list(path), "start_ns": first, "end_ns": last} for path, first, last in call.pieces]
    sums = {"states": call.states, "causes": call.causes, "served": call.served}
    counted = {"instructions": call.states.get(CPU, 0) // each_ns} if each_ns else {}
    return asdict(call) | sums | {"pieces": pieces} | counted


def _states(found: "list[Summary]", each_ns: int) -> Listing:
    """Return the durations and states of calls. each_ns: how long an instruction takes; 0: unknown."""
    from wblab.analysis.layers.calls import CPU

    rows: list[tuple[str, ...]] = []
    for item in found:
        served = f"{item.served:g}"
        rows.append((item.load, item.call, f"{item.count} calls", *_spread(item.duration), "100 %", served))
        for state, spread in item.states.items():
            count = [f"{spread.median_ns / each_ns:.0f}"] if each_ns and state == CPU else []
            rows.append(("", "", state, *_spread(spread), percent(item.shares[state]), "", *count))
    counted = ["instructions"] if each_ns else []
    heads = ("load", "call", "state", "median", "mean", "99 %", "longest", "share", "served", *counted)
    return Listing(rows, heads, frozenset(range(3, len(heads))))


def _paths(found: "list[Summary]") -> Listing:
    """Return the waits of calls, kind by kind."""
    rows = [
        (item.load, item.call, " > ".join(path), *_spread(spread))
        for item in found
        for path, spread in list(item.paths.items())[:_MOST_PATHS]
        if len(path) > 1
    ]
    heads = ("load", "call", "waited for", "median", "mean", "99 %", "longest")
    return Listing(rows, heads, frozenset(range(3, len(heads))))


def _prefixes(found: "list[Summary]") -> Iterator[Listing]:
    """Yield for each load the sums by function prefix, and how much of them is counted repeatedly."""
    from wblab.analysis.layers.stages import PREFIXES
    from wblab.analysis.layers.summary import per_write, stephens_shares, time_shares

    for load in dict.fromkeys(item.load for item in found):
        mine = [item for item in found if item.load == load]
        stephens, of_time = stephens_shares(mine), time_shares(mine)
        summed, once = per_write(mine, "prefixes"), per_write(mine, "once")
        rows = []
        for layer, prefixes in PREFIXES.items():
            names = [
                f"{name} {time_ns / _NS_PER_US:.1f}"
                for item in mine
                for name, time_ns in item.functions.items()
                if name.startswith(prefixes)
            ]
            shares = percent(stephens[layer]), percent(of_time[layer])
            times = (f"{time / _NS_PER_US:.1f}" for time in (summed[layer], once[layer], summed[layer] - once[layer]))
            rows.append((load, layer, *times, *shares, ", ".join(names[:_MOST_FUNCTIONS]) or "-"))
        heads = ("load", "prefix", "summed", "once", "repeated", "of the sums", "of the time", "functions, asleep")
        yield Listing(rows, heads, frozenset(range(2, len(heads) - 1)))


def _spread(spread: "Spread") -> tuple[str, str, str, str]:
    times_ns = (spread.median_ns, spread.mean_ns, spread.tail_ns, spread.longest_ns)
    median, mean, tail, longest = (f"{time_ns / _NS_PER_US:.1f}" for time_ns in times_ns)
    return median, mean, tail, longest
