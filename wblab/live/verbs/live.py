"""wblab live."""

import argparse
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from wblab.commands.common import add_exp, add_json, note, results
from wblab.core.errors import InputError
from wblab.core.loads import IoClass
from wblab.core.units import parse_bytes, parse_time
from wblab.lab.captures import read_captures
from wblab.live.runs.request import EVENTS, INNOCENT, WITH_PID, Captures, LiveRequest, check_request

if TYPE_CHECKING:
    from wblab.host.recorded import Finished


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.usage = f"{parser.prog} [options] [-- COMMAND...]"
    parser.description = (
        "Run the lab's innocent loads on this machine, in a directory on the disk under test, with a command beside "
        "them. Record how long the command stalls them. Without a command, they run until Ctrl-C. Tracing, "
        "--scheduler and --cgroup need root. Every change to the machine is undone at the end."
    )
    add = parser.add_argument
    add("--dir", type=Path, default=Path(), help="where the loads write, on the disk under test (default: .)")
    add("--wait", default="5s", metavar="TIME", help="run the loads alone first (default: 5s)")
    add("--tail", default="5s", metavar="TIME", help="keep them running after the command (default: 5s)")
    add("--limit", metavar="TIME", help="end the run, and the command, after this long")
    about = "c1, w1, mw1, k1 (commits), s1 (fsync), m1 (mapped) (default: the first 3; with --pid c1)"
    add("--innocent", metavar="LOADS", help=about)
    about = "I/O class of the command: none, realtime, best-effort, idle"
    add("--ioclass", choices=get_args(IoClass), default="none", metavar="CLASS", help=about)
    add("--iolevel", type=int, choices=range(8), default=4, metavar="0-7", help="I/O level of the command (default: 4)")
    add(
        "--scheduler",
        action="append",
        default=[],
        metavar="DEVICE=NAME",
        help="set a disk's I/O scheduler: sda=bfq; repeatable",
    )
    add(
        "--cgroup",
        action="append",
        default=[],
        metavar="FILE=VALUE",
        help="limit the command: memory.high=100M; repeatable",
    )
    add(
        "--events",
        action="append",
        default=[],
        metavar="EVENT",
        help="trace these events too: jbd2:*; repeatable",
    )
    add("--no-trace", action="store_true", help="do not trace")
    add("--buffer", default="4MiB", metavar="SIZE", help="trace buffer per processor (default: 4MiB)")
    add("--capture-pauses", metavar="TIME", help="save all events around each pause over TIME")
    add("--pid", type=int, metavar="PID", help="save those of this process, while a thread of it is blocked")
    add(
        "--capture-around",
        default="2s",
        metavar="TIME",
        help="before and after the pause (default: 2s)",
    )
    about = "per processor (default: 32MiB, growing to a sixteenth of the free memory)"
    add("--capture-buffer", metavar="SIZE", help=about)
    add("--captures", type=int, default=20, metavar="N", help="save at most N captures (default: 20)")
    add("--capture-bytes", default="1GiB", metavar="SIZE", help="save at most this much (default: 1GiB)")
    add("--name", default="live", metavar="NAME", help="part of the run directory's name (default: live)")
    add_exp(parser, "run directories go")
    add_json(parser, "print the run's record as JSON")
    add("command", nargs=argparse.REMAINDER, metavar="-- COMMAND...", help="the offender and its arguments")
    parser.set_defaults(run=_live)


def _live(arguments: argparse.Namespace) -> None:
    from wblab.lab.progress import bar
    from wblab.live.runs.run import run_live, signals_blocked

    request = make_request(arguments)
    check_request(request)
    with signals_blocked(), bar(request.name) as report:
        finished = run_live(request, results(arguments), report=report)
    _print(finished, arguments.json, is_of_program=arguments.pid is not None)


def make_request(arguments: argparse.Namespace) -> LiveRequest:
    """Return the request that the arguments describe. Raises InputError."""
    dashes, argv = arguments.command[:1], tuple(arguments.command[1:])
    if dashes and dashes != ["--"]:
        raise InputError(f"unexpected argument {dashes[0]!r}: write the command after --")
    captures = None
    if arguments.capture_pauses is not None:
        captures = Captures(
            bound=parse_time(arguments.capture_pauses),
            around=parse_time(arguments.capture_around),
            buffer=None if arguments.capture_buffer is None else parse_bytes(arguments.capture_buffer),
            most=arguments.captures,
            most_bytes=parse_bytes(arguments.capture_bytes),
        )
    if arguments.no_trace and (arguments.events or captures):
        raise InputError("--no-trace excludes --events and --capture-pauses: leave one out")
    innocent = arguments.innocent or ",".join(INNOCENT if arguments.pid is None else WITH_PID)
    return LiveRequest(
        directory=arguments.dir,
        name=arguments.name,
        argv=argv,
        ioclass=arguments.ioclass,
        iolevel=arguments.iolevel,
        wait=parse_time(arguments.wait),
        tail=parse_time(arguments.tail),
        limit=None if arguments.limit is None else parse_time(arguments.limit),
        innocent=tuple(dict.fromkeys(innocent.split(","))),
        schedulers=_pairs("--scheduler", arguments.scheduler),
        cgroup=_pairs("--cgroup", arguments.cgroup),
        events=() if arguments.no_trace else tuple(dict.fromkeys([*EVENTS, *arguments.events])),
        buffer=parse_bytes(arguments.buffer),
        captures=captures,
        pid=arguments.pid,
    )


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (equals and key and value):
            raise InputError(f"{option}: {text!r} is not of the form NAME=VALUE")
        pairs[key] = value
    return pairs


def _print(finished: "Finished", as_json: bool, *, is_of_program: bool) -> None:
    live: dict[str, Any] = finished.record["live"]
    for said in live["notes"]:
        note(said)
    command = live["command"]
    if command and command["exit_code"]:
        note(f"the command ended with exit code {command['exit_code']}: see command.log in {finished.directory}")
    if live["ended"] != "the command ended":
        note(f"the run ended early: {live['ended']}")
    if as_json:
        print(json.dumps({"directory": str(finished.directory)} | finished.record, indent=2))
    elif is_of_program:
        _print_next(finished.directory)
    else:
        from wblab.commands.answered import print_answered

        print_answered(finished.directory)


def _print_next(directory: Path) -> None:
    """Print the directory, and what explains the longest pause of the program that was watched."""
    captures = read_captures(directory)
    if captures:
        longest = max(captures, key=lambda capture: capture.pause_end_ns - capture.pause_start_ns)
        task = longest.load.rpartition("-")[2]
        note(f"why: wblab why {shlex.quote(str(directory / longest.trace))} --task {task}")
    print(directory)
