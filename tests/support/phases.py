"""Run a wblab command that boots one guest; report when each phase began, and the cost until then."""

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from wblab.cli import main
from wblab.core.status import Message
from wblab.host import run
from wblab.host.process.usage import descendants

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
BEGIN, BOOT, ENDED = "the command before boot", "boot", "the command's end"
# The phase that begins with each of the guest's status words; a word not listed belongs to the phase before it.
PARTS = {
    "mounts": "settings, disk and mount",
    "trace": "trace-cmd's start",
    "loads": "the loads",
    "stop": "trace-cmd's end",
    "write": "results, unmount, power off",
}


def used_s() -> float:
    """Return the processor time in s of this process and all its descendants, ended ones included.

    Resolution: 10 ms for each process. See proc_pid_stat(5).
    """
    ticks = 0
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            ticks += sum(map(int, Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / _TICKS_PER_S


def told(arguments: list[str]) -> list[dict[str, object]]:
    """Run a command and return its marks."""
    marks: dict[str, tuple[float, float]] = {}
    boot = run.boot

    def mark(part: str) -> None:
        marks[part] = (time.perf_counter(), used_s())

    def marking(request, heard, look):
        def hear(message: Message) -> None:
            if message.phase in PARTS and PARTS[message.phase] not in marks:
                mark(PARTS[message.phase])
            heard(message)

        mark(BOOT)
        ended = boot(request, hear, look)
        mark(ENDED)
        return ended

    marks[BEGIN] = (_started_s(), 0.0)
    run.boot = marking
    sys.argv[1:] = arguments
    if code := main():  # as the command, which keeps what it compiles
        sys.exit(code)
    return [{"part": part, "wall_s": wall_s, "cpu_s": taken_s} for part, (wall_s, taken_s) in marks.items()]


def _started_s() -> float:
    """Return when this process began, on the clock of time.perf_counter()."""
    began_ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return time.perf_counter() - (time.clock_gettime(time.CLOCK_BOOTTIME) - began_ticks / _TICKS_PER_S)


if __name__ == "__main__":
    print(json.dumps(told(sys.argv[1:])))
