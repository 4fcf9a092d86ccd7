"""wblab monitor: writeback of this machine, a guest or a finished run, on a live page."""

import argparse
from contextlib import suppress
from pathlib import Path

from wblab.commands.common import add_exp, add_json, add_kernel, add_run, add_settings
from wblab.core.errors import InputError
from wblab.live.gauge import PORT as GAUGE_PORT
from wblab.live.monitor import PORT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Show writeback as it happens, on a page served on 127.0.0.1; its address is printed. Without RUN or --guest "
        "the page shows this machine. The dirty limit and throttling appear only where tracing is permitted, as a "
        "rule for root."
    )
    source = parser.add_mutually_exclusive_group()
    add_run(source, optional=True, about="replay this run: its directory, the directory's name, or 'latest'")
    source.add_argument(
        "--guest", nargs="?", const="base", metavar="SPEC", help="run an experiment and watch its guest (default: base)"
    )
    parser.add_argument("--dir", type=Path, metavar="DIR", help="this machine only: also time small writes in DIR")
    about = "this machine only: show this disk (sda, loop7) instead of the busiest; repeat for more"
    parser.add_argument("--disk", action="append", default=[], metavar="NAME", help=about)
    parser.add_argument("--speed", type=float, metavar="N", help="replay at N times the speed (inf: all at once)")
    add_settings(parser)
    add_kernel(parser, "SPEC's")
    add_exp(parser)
    about = f"port of the page (default: {PORT}, or a free one where that is taken; 0: a free one)"
    parser.add_argument("--port", type=int, metavar="N", help=about)
    shown = parser.add_mutually_exclusive_group()
    add_json(shown, "print samples as JSON lines; serve no page")
    about = "print five lines each second, on a terminal in one place; serve no page, need no packages"
    shown.add_argument("--plain", action="store_true", help=about)
    about = f"this machine only: answer Prometheus there, by default on 127.0.0.1:{GAUGE_PORT}; serve no page"
    parser.add_argument("--metrics", nargs="?", const=str(GAUGE_PORT), metavar="[HOST:]PORT", help=about)
    about = "this machine only: write the same to FILE.prom every 5 s, for node-exporter; serve no page"
    parser.add_argument("--textfile", type=Path, metavar="FILE", help=about)
    parser.set_defaults(run=_monitor)


def _monitor(arguments: argparse.Namespace) -> None:
    is_gauge = arguments.metrics is not None or arguments.textfile is not None
    shown = (
        *(("RUN", arguments.run_name), ("--guest", arguments.guest), ("--dir", arguments.dir)),
        *(("--disk", arguments.disk), ("--port", arguments.port is not None)),
        *(("--json", arguments.json), ("--plain", arguments.plain)),
    )
    for option, value, needed in (
        ("--dir", arguments.dir, arguments.run_name is None and arguments.guest is None),
        ("--disk", arguments.disk, arguments.run_name is None and arguments.guest is None),
        ("--speed", arguments.speed, arguments.run_name is not None),
        ("--set", arguments.settings, arguments.guest is not None),
        ("--kernel", arguments.kernel, arguments.guest is not None),
        *((option, value, False) for option, value in shown if is_gauge),
    ):
        if value and not needed:
            raise InputError(f"{option} has no effect here: leave it out, or see wblab monitor --help")
    if is_gauge:
        from wblab.live.verbs.gauge import run_gauge

        run_gauge(arguments)
        return
    with suppress(KeyboardInterrupt):  # Ctrl-C is the normal way to end it
        _watch(arguments)


def _watch(arguments: argparse.Namespace) -> None:
    """Watch this machine by the standard library alone; a guest or a run needs packages."""
    if arguments.run_name is None and arguments.guest is None:
        from wblab.live.verbs.watchmachine import watch_machine

        watch_machine(arguments)
    else:
        from wblab.live.verbs.watchruns import watch_guest, watch_run

        (watch_guest if arguments.run_name is None else watch_run)(arguments)
