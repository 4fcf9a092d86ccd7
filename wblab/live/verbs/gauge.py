"""wblab monitor --metrics and --textfile: the gauge of this machine, until a signal ends it."""

import argparse
import gc
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import note
from wblab.core.errors import WblabError
from wblab.core.syscalls import set_process_name
from wblab.core.units import NS_PER_S
from wblab.lab.extras import require
from wblab.live.monitor.proc import lock_all, reserve
from wblab.machine.undo import Undo

if TYPE_CHECKING:
    from wblab.live.gauge.export import TextFile
    from wblab.live.gauge.thismachine import ThisMachine

_ENDS = {signal.SIGINT, signal.SIGTERM}
_TICK_NS = NS_PER_S
_WRITTEN_EACH = 5  # ticks: monitoring systems ask every 10 to 60 s
_HEAP_BYTES = 8 << 20
_END_LIMIT_S = 2.0


def run_gauge(arguments: argparse.Namespace) -> None:
    """Export what this machine's writeback does, once a second, until SIGTERM or Ctrl-C."""
    require(["live"])
    from wblab.live.gauge.counts import Counts
    from wblab.live.gauge.export import TextFile, address_of, answering
    from wblab.live.gauge.thismachine import ThisMachine

    address = address_of(arguments.metrics) if arguments.metrics else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        with Undo() as undo, ExitStack() as stack:
            counts = Counts()
            machine = ThisMachine(counts, undo, stack)
            machine.tick(time.monotonic_ns())
            file = TextFile(counts, Path(arguments.textfile)) if arguments.textfile else None
            if file:
                stack.callback(file.end, _END_LIMIT_S)
            if address:
                print(stack.enter_context(answering(counts, address)), flush=True)
                if not address.is_loopback:
                    note(f"whoever reaches {address.host} can read the metrics, names of disks and groups among them")
            if lacking := machine.lacking():
                note(lacking)
            _settle()
            _sample(machine, file)
        if undo.failures:
            raise WblabError("; ".join(undo.failures))
    finally:
        while signal.sigtimedwait(_ENDS, 0):
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle() -> None:
    """Lock what memory we have: an allocation could wait for the disk. What was imported is no garbage."""
    set_process_name("wblab-gauge")
    gc.freeze()
    reserve(_HEAP_BYTES)
    lock_all()


def _sample(machine: "ThisMachine", file: "TextFile | None") -> None:
    ticks, said = 0, ""
    while not signal.sigtimedwait(_ENDS, (_TICK_NS - time.monotonic_ns() % _TICK_NS) / NS_PER_S):
        machine.tick(time.monotonic_ns())
        ticks += 1
        if file and ticks % _WRITTEN_EACH == 0:
            file.write()
        if file and file.failure and file.failure != said:
            note(f"--textfile: cannot write it now: {file.failure}")
        said = file.failure if file else ""
