"""wblab monitor: this machine, a guest or a finished run, on a page that draws itself."""

import argparse
import os
import secrets
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wblab.core.loads import Load
    from wblab.core.spec import Spec
    from wblab.monitor.audience import Audience

_END_LIMIT_S = 5.0
_HEAP_BYTES = 32 << 20


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb to the command."""
    monitor = verbs.add_parser(
        "monitor",
        help="watch writeback on a page",
        description="Serve a page on 127.0.0.1 that shows writeback while it happens, and print its address. "
        "Without --run and --guest: on this machine, with the dirty limit and throttling where we may trace.",
    )
    source = monitor.add_mutually_exclusive_group()
    source.add_argument("--run", metavar="RUN", dest="replayed", help="replay a run: its directory, name, or 'latest'")
    source.add_argument(
        "--guest", nargs="?", const="base", metavar="SPEC", help="run an experiment and watch its guest (default: base)"
    )
    monitor.add_argument("--dir", type=Path, metavar="DIR", help="on this machine: also time small writes in DIR")
    monitor.add_argument("--speed", type=float, metavar="N", help="replay so many times as fast (inf: at once)")
    monitor.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="settings", help="change a key of SPEC"
    )
    monitor.add_argument("--kernel", default="", metavar="SERIES|PATH", help="the guest's (default: SPEC's)")
    monitor.add_argument("--exp", type=Path, metavar="DIR", help="where run directories are (default: exp/ of the lab)")
    monitor.add_argument("--port", type=int, default=0, metavar="N", help="of the page (default: one that is free)")
    monitor.add_argument("--json", action="store_true", help="print samples as lines of JSON instead; serve nothing")
    monitor.set_defaults(run=_monitor)


def _monitor(arguments: argparse.Namespace) -> None:
    for option, value, needed in (
        ("--dir", arguments.dir, arguments.replayed is None and arguments.guest is None),
        ("--speed", arguments.speed, arguments.replayed is not None),
        ("--set", arguments.settings, arguments.guest is not None),
        ("--kernel", arguments.kernel, arguments.guest is not None),
    ):
        if value and not needed:
            raise InputError(f"{option} says nothing here: see wblab monitor --help")
    with suppress(KeyboardInterrupt):  # how one ends it
        if arguments.replayed is not None:
            _watch_run(arguments)
        elif arguments.guest is not None:
            _watch_guest(arguments)
        else:
            _watch_machine(arguments)


def _watch_machine(arguments: argparse.Namespace) -> None:
    from wblab.monitor.memory import lock_all, reserve
    from wblab.monitor.sampler import Order
    from wblab.monitor.streams import pipe, piped, sampler

    directory: Path | None = arguments.dir
    if directory is not None and not (directory.is_dir() and os.access(directory, os.W_OK | os.X_OK)):
        raise InputError(f"--dir: cannot write to {str(directory)!r}: give a directory")
    if directory is not None:
        directory = _checked(directory)
    order = Order("this machine", probe=str(directory) if directory else "")
    audience = _audience(arguments, {})
    reading, writing = pipe()
    reserve(_HEAP_BYTES)
    with audience.hears(piped(reading)):
        with sampler(order, writing):
            lock_all()  # what shows the samples must not wait for a disk either
            audience.stay()
        audience.await_end(_END_LIMIT_S)


def _checked(directory: Path) -> Path:
    """Return where a directory lies that a probe may use. Raises InputError."""
    from wblab.machine.directory import open_directory, path_of

    try:
        held = open_directory(directory)
    except OSError as error:
        raise InputError(f"--dir: cannot use {str(directory)!r}: {error.strerror}") from None
    try:
        return path_of(held)
    finally:
        os.close(held)


def _watch_guest(arguments: argparse.Namespace) -> None:
    from wblab.commands.run import run_spec
    from wblab.host.check import check_kernel, check_run
    from wblab.kernels import built_kernel, full_name
    from wblab.lab.specfile import RESULTS, find_spec, read_spec
    from wblab.monitor.streams import pipe, piped

    spec = watched(read_spec(find_spec(arguments.guest), ["clock.mode=real", *arguments.settings]))
    if arguments.kernel:
        spec = replace(spec, kernel=full_name(arguments.kernel))
    check_run(spec)
    check_kernel(spec, built_kernel(spec.kernel, given=[arguments.kernel]))
    audience = _audience(arguments, spec.load)
    reading, writing = pipe()
    with audience.hears(piped(reading)):
        try:
            finished = run_spec(spec, arguments.exp or RESULTS, kernel_given=arguments.kernel, samples_fd=writing)
        finally:
            os.close(writing)
        print(finished.directory, file=sys.stderr if arguments.json else sys.stdout, flush=True)
        audience.stay()


def watched(spec: "Spec") -> "Spec":
    """Return a spec with a sampler beside its loads, which writes to the device that the host reads."""
    from wblab.core import layout
    from wblab.core.spec import Agent
    from wblab.monitor.sampler import Order
    from wblab.monitor.streams import command

    order = Order(f"guest of {spec.name}", str(layout.SAMPLES_DEVICE), str(layout.DISK), passing=True)
    return replace(spec, agent=spec.agent | {"sampler": Agent(argv=tuple(command(order, "python3")))})


def _watch_run(arguments: argparse.Namespace) -> None:
    from wblab.commands.pauses import traced
    from wblab.data.run import find_run, read_run
    from wblab.lab.specfile import RESULTS
    from wblab.monitor.replay import replay
    from wblab.monitor.streams import replayed

    speed = 1.0 if arguments.speed is None else arguments.speed
    if not speed > 0:
        raise InputError(f"--speed: {speed:g} times as fast never ends: give a number above 0, or inf")
    run = read_run(find_run(arguments.replayed, arguments.exp or RESULTS))
    items = replay(run, traced(run, "the page"))
    audience = _audience(arguments, {item.name: item.load for item in run.loads})
    with audience.hears(replayed(items, speed)):
        audience.stay()


def _audience(arguments: argparse.Namespace, loads: "Mapping[str, Load]") -> "Audience":
    """Return who watches: pages, whose address is printed, or who reads standard output. loads: those watched."""
    from wblab.monitor.audience import Audience, printed

    if arguments.json:
        return Audience(printed)
    from wblab.monitor.server import address, listen, serve
    from wblab.plot.style import look

    try:
        listening = listen(arguments.port)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "there is no such port"
        raise InputError(
            f"--port: cannot listen on {arguments.port}: {reason}: leave it out for one that is free"
        ) from None
    token = secrets.token_urlsafe(24)
    print(address(listening, token), flush=True)
    return Audience(lambda items: serve(items, listening, token, look(loads)))
