"""wblab timeline: a picture or page of a run, or a file for Perfetto's viewer."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_bound,
    add_exp,
    add_output,
    add_run,
    format_of,
    is_file_of_others,
    named_run,
    note,
    results,
)
from wblab.core.errors import InputError, WblabError
from wblab.core.units import NS_PER_S, parse_time
from wblab.lab.held import replace_file
from wblab.lab.printable import printable
from wblab.lab.results import study_at
from wblab.lab.wings import needed

if TYPE_CHECKING:
    from wblab.analysis.runs.pauses import Window
    from wblab.api.recorded import Run

_PERFETTO, _PERFETTO_FILE = "perfetto-trace", "trace.perfetto-trace"
_FORMATS = ("png", "svg", "pdf", "html", _PERFETTO)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Draw a run: a lane for each load, tall and red while it is frozen, in a pause over --bound. --beside draws "
        "other runs below it. Of a study, it draws one run of each cell: the one whose longest freeze is the median. "
        "--panes draws the page cache and the length of each cycle, with causes; so do --from, --to and --around, for "
        "a close-up, and HTML, a page that you can zoom, with explanations where you point. As "
        "perfetto-trace it is a file for Perfetto's viewer, https://ui.perfetto.dev, of the whole run: the page cache "
        "and the throttling as counters and slices, all other events as instants, at most 200,000."
    )
    add_run(parser, about="a run, a study, latest, or a trace.dat or recorder's file of another machine")
    add_exp(parser)
    add_output(parser, "where to write it (default: in the run)", _FORMATS)
    parser.add_argument(
        "--beside", action="append", default=[], metavar="RUN", help="draw this run below, on one time axis; repeatable"
    )
    parser.add_argument(
        "--title", action="append", default=[], metavar="TEXT", help="above a run; again for each further one"
    )
    parser.add_argument(
        "--panes",
        default="",
        metavar="PANES",
        help="draw these panes, such as dirty,mw1,l1, or all; heat, a latency map",
    )
    parser.add_argument("--task", action="append", default=[], metavar="NAME|PID", help="of a trace.dat; repeatable")
    parser.add_argument("--from", dest="start", metavar="TIME", help="from this time since the loads started: 8.4s")
    parser.add_argument("--to", dest="end", metavar="TIME", help="up to this time")
    parser.add_argument(
        "--around", metavar="LOAD", help="the longest pause of this load, or 'longest': of any innocent load"
    )
    parser.add_argument(
        "--no-causes", action="store_true", help="draw panes, with pauses not coloured by cause (wblab why)"
    )
    add_bound(parser)
    parser.set_defaults(run=_timeline)


def _timeline(arguments: argparse.Namespace) -> None:
    from wblab.api.recorded import Run

    chosen = format_of(arguments, _FORMATS)
    if is_file_of_others(arguments.run_name):
        _draw_file(arguments, chosen)
        return
    if arguments.task:
        raise InputError(f"--task {arguments.task[0]}: it is for a trace of another machine")
    if study := study_at(Path(arguments.run_name), results(arguments)):
        _write_study(arguments, study, chosen)
        return
    run = Run.of(named_run(arguments))
    window = _window(arguments, run)
    if chosen == _PERFETTO:
        _write_perfetto(arguments, run, window)
        return
    output: Path = arguments.output or run.path / f"{_name(run, window)}.{chosen}"
    has_panes = bool(arguments.panes or window or arguments.no_causes or chosen == "html")
    if has_panes:
        _write_panes(arguments, run, window, output)
    else:
        _write_lanes(arguments, run, output)
    print(printable(str(output)))


def _draw_file(arguments: argparse.Namespace, chosen: str) -> None:
    """Draw a trace of another machine, and say what it lacks. Raises InputError."""
    for option in ("beside", "title"):
        if given := getattr(arguments, option):
            raise InputError(f"--{option} {given[0]}: only runs have it, and {arguments.run_name!r} is a file")
    if arguments.around is not None and (arguments.start is not None or arguments.end is not None):
        raise InputError("--around cannot be combined with --from or --to: give one or the other")
    start_ns, end_ns = (parse_time(text) if text else None for text in (arguments.start, arguments.end))
    wanted = needed("what to draw of a trace")(
        tasks=tuple(arguments.task),
        around=arguments.around or "",
        start_ns=start_ns,
        end_ns=end_ns,
        panes=arguments.panes,
        has_causes=not arguments.no_causes,
        bound_ns=parse_time(arguments.bound),
    )
    file = Path(arguments.run_name)
    output: Path = arguments.output or Path(f"{file.name}.timeline.{chosen}")
    for line in needed("a timeline of a trace")(file, output, wanted):
        note(line)
    print(printable(str(output)))


def _write_study(arguments: argparse.Namespace, path: Path, chosen: str) -> None:
    """Draw a study: the lanes of each cell, or their heat maps. Raises InputError for options that only runs have."""
    from wblab.plot.picture import save
    from wblab.study.pictured import study_picture
    from wblab.study.store import Store

    for option, name in (("start", "from"), ("end", "to"), *((name, name) for name in ("around", "beside", "title"))):
        if given := getattr(arguments, option):
            raise InputError(f"--{name} {given}: {path} is a study: name one of its runs, {path}/runs/NAME")
    store = Store.open(path)
    output: Path = arguments.output or path / f"timeline.{chosen}"
    save(study_picture(store, arguments.panes), store.plan.name, output)
    print(printable(str(output)))


def _write_panes(arguments: argparse.Namespace, run: "Run", window: "Window | None", output: Path) -> None:
    """Draw panes of one run. Raises InputError for options that only lanes have, and for an unknown pane."""
    from wblab.plot.timeline import chosen

    for option in ("beside", "title"):
        if given := getattr(arguments, option):
            raise InputError(
                f"--{option} {given[0]}: only lanes have it: leave it out, or --panes, --no-causes, --from, --to, "
                "--around and HTML"
            )
    shown = chosen(run.panes(window, causes=not arguments.no_causes), arguments.panes)
    if output.suffix.lower() == ".html":
        from wblab.plot.page import save_page

        save_page(shown, output)
    else:
        from wblab.plot.picture import picture, save

        save(picture(shown), run.name, output)


def _write_lanes(arguments: argparse.Namespace, run: "Run", output: Path) -> None:
    """Draw runs below each other. Raises InputError for more titles than runs."""
    from wblab.analysis.runs.lanes import lanes_of
    from wblab.analysis.runs.run import find_run, read_run
    from wblab.plot.lanespicture import lanes_picture
    from wblab.plot.picture import save
    from wblab.report.lanestext import titles

    runs = [run, *(read_run(find_run(name, results(arguments))) for name in arguments.beside)]
    if len(arguments.title) > len(runs):
        count = "1 run is" if len(runs) == 1 else f"{len(runs)} runs are"
        raise InputError(f"--title {arguments.title[len(runs)]}: {count} drawn: give a title for each, or add --beside")
    shown = [*arguments.title, *titles(runs)[len(arguments.title) :]]
    bound_ns = parse_time(arguments.bound)
    lanes = [lanes_of(each, title, bound_ns) for each, title in zip(runs, shown, strict=True)]
    save(lanes_picture(lanes), run.name, output)


def _write_perfetto(arguments: argparse.Namespace, run: "Run", window: "Window | None") -> None:
    """Write a run for Perfetto's viewer. Raises InputError for a close-up."""
    from wblab.analysis.runs.perfetto import MOST_EVENTS, chosen_events, export

    if window is not None:
        raise InputError("--format perfetto-trace: the viewer zooms itself: leave --from, --to and --around out")
    cache = run.traced("the export")
    output: Path = arguments.output or run.path / _PERFETTO_FILE
    try:
        with replace_file(output) as file:  # no viewer opens half of it
            file.write(export(run, cache, parse_time(arguments.bound)))
    except OSError as error:
        raise WblabError(f"cannot write {output}: {error.strerror}") from None
    if cache is not None and (left_out := chosen_events(cache)[1]):
        named = ", ".join(f"{name} ({count:,})" for name, count in left_out.items())
        said = f"wblab: left out, because such a file holds at most {MOST_EVENTS:,} such events: {named}"
        print(printable(said), file=sys.stderr)
    if run.failure:
        print(f"wblab: this run did not succeed: {run.failure}", file=sys.stderr)
    print(printable(str(output)))


def _window(arguments: argparse.Namespace, run: "Run") -> "Window | None":
    start, end = arguments.start, arguments.end
    if arguments.around is not None and (start is not None or end is not None):
        raise InputError("--around cannot be combined with --from or --to: give one or the other")
    return run.window(
        arguments.around, *(None if text is None else parse_time(text) / NS_PER_S for text in (start, end))
    )


def _name(run: "Run", window: "Window | None") -> str:
    if window is None:
        return "timeline"
    start_s, end_s = ((time_ns - run.zero_ns) / 1e9 for time_ns in (window.start_ns, window.end_ns))
    return f"timeline-{start_s:.2f}s-{end_s:.2f}s"
