"""wblab monitor, of a guest while it runs, or of a finished run."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping

from wblab.api.making import run_shown
from wblab.api.recorded import Run
from wblab.commands.common import named_run, results
from wblab.core.errors import InputError
from wblab.core.loads import Load
from wblab.host.request import ready
from wblab.kernels import built_kernels, full_name
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.live.monitor.audience import Audience, Items, pipe, piped, replayed
from wblab.live.monitor.plainnames import names_of, plainly
from wblab.live.monitor.replay import replay, watched
from wblab.live.verbs.watchmachine import audience_of


def watch_guest(arguments: argparse.Namespace) -> None:
    """Run an experiment and show its guest; print the run directory at the end."""
    spec = watched(read_spec(SPECS.find(arguments.guest), ["clock.mode=real", *arguments.settings]))
    if arguments.kernel:
        spec = spec.on(full_name(arguments.kernel))
    request = ready(spec, built_kernels(arguments.kernel))
    audience, items = _plain(arguments, spec.load)
    reading, writing = pipe()
    with audience.showing(items(piped(reading))):
        try:
            finished = run_shown(request, results(arguments), samples_fd=writing)
        finally:
            os.close(writing)
        print(finished.directory, file=sys.stderr if arguments.json or arguments.plain else sys.stdout, flush=True)
        audience.wait()


def watch_run(arguments: argparse.Namespace) -> None:
    """Replay a finished run."""
    speed = 1.0 if arguments.speed is None else arguments.speed
    if not speed > 0:
        raise InputError(f"--speed {speed:g} would never finish: give a number above 0, or inf")
    run = Run.of(named_run(arguments))
    audience, items = _plain(arguments, {item.name: item.load for item in run.loads})
    with audience.showing(items(replayed(replay(run, run.traced("the page")), speed))):
        audience.wait()


def _plain(arguments: argparse.Namespace, loads: Mapping[str, Load]) -> tuple[Audience, Callable[[Items], Items]]:
    """Return the output sink, and what names loads for it as a reader calls them; programs get their names alone."""
    names = {} if arguments.json else names_of(loads)
    audience = audience_of(arguments, {names.get(name, name): load for name, load in loads.items()})
    return audience, lambda items: plainly(items, names)
