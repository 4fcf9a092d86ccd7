"""Starts the reaper of a guest, as a fork of this process where that is safe: it has imported all that it needs."""

import gc
import json
import os
import signal
import subprocess
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeAlias

from wblab.host.process.reaper import ConfinedCommand, close_all_but, main
from wblab.lab.places import ROOT

_PROGRAM = """
import json, sys
sys.path.append(sys.argv[1])
from wblab.host.process.reaper import ConfinedCommand, main
main(ConfinedCommand(**json.loads(sys.argv[2])))
"""
_OF_A_TERMINAL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ForkedReaper:
    """A reaper that is a fork of this process; the answer comes from `stdout`. Leaving its block waits for its end."""

    def __init__(self, order: ConfinedCommand, console: BinaryIO, environment: dict[str, str]) -> None:
        answer, answer_far = os.pipe()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_A_TERMINAL)  # our handlers would unwind the copy
        try:
            self.pid = os.fork()
            if not self.pid:
                _become(order, answer_far, console.fileno(), environment, mask)
            self.stdout = os.fdopen(answer, "rb")
        finally:
            os.close(answer_far)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def __enter__(self) -> "ForkedReaper":
        return self

    def __exit__(self, *error: object) -> None:
        self.stdout.close()
        os.waitpid(self.pid, 0)


Reaper: TypeAlias = "subprocess.Popen[bytes] | ForkedReaper"


def has_one_thread() -> bool:
    """Whether this process has no other threads, neither Python's nor a library's."""
    return len(os.listdir("/proc/self/task")) == 1


def start_reaper(order: ConfinedCommand, console: BinaryIO, home: Path) -> Reaper:
    """Start it with a clean environment, in which `home` is where programs keep their own, and with what it says there.

    To start a Python for it takes ten times as long as a fork, which is not for a process with other threads: those are
    gone in the copy, and what they had locked stays locked.
    """
    environment = {"HOME": str(home), "TMPDIR": str(home), "PATH": os.defpath}
    if has_one_thread():
        return ForkedReaper(order, console, environment)
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, str(ROOT), json.dumps(asdict(order))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=console,
        env=environment,
        pass_fds=_kept(order),
    )


def _become(
    order: ConfinedCommand, answer: int, console: int, environment: dict[str, str], mask: set[signal.Signals | int]
) -> NoReturn:
    """In the child: have what a new program would have, be the reaper, and never return."""
    try:
        gc.freeze()  # what is garbage in here must not close descriptors, whose numbers are others' now
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals():
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        for number in _OF_A_TERMINAL:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for here, there in ((os.open(os.devnull, os.O_RDONLY), 0), (answer, 1), (console, 2)):
            os.dup2(here, there)
        close_all_but({0, 1, 2, *_kept(order)})
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
        os.environ.clear()
        os.environ.update(environment)
        main(order)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _kept(order: ConfinedCommand) -> list[int]:
    return [order.control, *order.descriptors.values(), *order.holds]
