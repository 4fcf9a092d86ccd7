"""wblab monitor: writeback of this machine, a guest or a finished run, on a live page."""

import argparse
import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, add_kernel, add_run, add_settings, named_run, note, results
from wblab.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wblab.core.loads import Load
    from wblab.live.monitor.audience import Audience

_END_LIMIT_S = 5.0
_PORT = 9643
_HEAP_BYTES = 32 << 20


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
    about = f"port of the page (default: {_PORT}, or a free one where that is taken; 0: a free one)"
    parser.add_argument("--port", type=int, metavar="N", help=about)
    shown = parser.add_mutually_exclusive_group()
    add_json(shown, "print samples as JSON lines; serve no page")
    about = "print five lines each second, on a terminal in one place; serve no page, need no packages"
    shown.add_argument("--plain", action="store_true", help=about)
    parser.set_defaults(run=_monitor)


def _monitor(arguments: argparse.Namespace) -> None:
    for option, value, needed in (
        ("--dir", arguments.dir, arguments.run_name is None and arguments.guest is None),
        ("--disk", arguments.disk, arguments.run_name is None and arguments.guest is None),
        ("--speed", arguments.speed, arguments.run_name is not None),
        ("--set", arguments.settings, arguments.guest is not None),
        ("--kernel", arguments.kernel, arguments.guest is not None),
    ):
        if value and not needed:
            raise InputError(f"{option} has no effect here: leave it out, or see wblab monitor --help")
    with suppress(KeyboardInterrupt):  # Ctrl-C is the normal way to end it
        if arguments.run_name is not None:
            _watch_run(arguments)
        elif arguments.guest is not None:
            _watch_guest(arguments)
        else:
            _watch_machine(arguments)


def _watch_machine(arguments: argparse.Namespace) -> None:
    from wblab.live.monitor.audience import pipe, piped, sampler
    from wblab.live.monitor.disks import find_disk
    from wblab.live.monitor.probe import probe_place
    from wblab.live.monitor.proc import lock_all, reserve
    from wblab.live.monitor.sampler import SamplerRequest

    disks = tuple(find_disk(name) for name in arguments.disk)
    probe = str(probe_place(arguments.dir)) if arguments.dir is not None else ""
    request = SamplerRequest("this machine", probe=probe, disks=disks)
    audience = _audience(arguments, {})
    reading, writing = pipe()
    reserve(_HEAP_BYTES)
    with audience.showing(piped(reading)):
        with sampler(request, writing):
            lock_all()  # the process that shows the samples must not wait for a disk either
            audience.wait()
        audience.await_end(_END_LIMIT_S)


def _watch_guest(arguments: argparse.Namespace) -> None:
    from wblab.api.making import run_shown
    from wblab.host.request import ready
    from wblab.kernels import built_kernels, full_name
    from wblab.lab.results import SPECS
    from wblab.lab.specfile import read_spec
    from wblab.live.monitor.audience import pipe, piped
    from wblab.live.monitor.replay import watched

    spec = watched(read_spec(SPECS.find(arguments.guest), ["clock.mode=real", *arguments.settings]))
    if arguments.kernel:
        spec = spec.on(full_name(arguments.kernel))
    request = ready(spec, built_kernels(arguments.kernel))
    audience = _audience(arguments, spec.load)
    reading, writing = pipe()
    with audience.showing(piped(reading)):
        try:
            finished = run_shown(request, results(arguments), samples_fd=writing)
        finally:
            os.close(writing)
        print(finished.directory, file=sys.stderr if arguments.json or arguments.plain else sys.stdout, flush=True)
        audience.wait()


def _watch_run(arguments: argparse.Namespace) -> None:
    from wblab.api.recorded import Run
    from wblab.live.monitor.audience import replayed
    from wblab.live.monitor.replay import replay

    speed = 1.0 if arguments.speed is None else arguments.speed
    if not speed > 0:
        raise InputError(f"--speed {speed:g} would never finish: give a number above 0, or inf")
    run = Run.of(named_run(arguments))
    items = replay(run, run.traced("the page"))
    audience = _audience(arguments, {item.name: item.load for item in run.loads})
    with audience.showing(replayed(items, speed)):
        audience.wait()


def _audience(arguments: argparse.Namespace, loads: "Mapping[str, Load]") -> "Audience":
    """Return the output sink: browser pages, whose address is printed, or stdout. `loads` are the loads on show."""
    from wblab.live.monitor.audience import Audience, plain, printed

    if arguments.json or arguments.plain:
        return Audience(printed if arguments.json else plain)
    from wblab.live.monitor.server import address, listen, listen_by_default, serve, tunnel
    from wblab.plot.style import look

    try:
        listening = listen_by_default(_PORT) if arguments.port is None else listen(arguments.port)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "there is no such port"
        raise InputError(
            f"--port: cannot listen on {arguments.port}: {reason}: leave --port out to use a free one"
        ) from None
    token = secrets.token_urlsafe(24)
    print(address(listening, token), flush=True)
    note(f"from another machine: {tunnel(listening)}, and the same address there")
    return Audience(lambda items: serve(items, listening, token, look(loads)))
